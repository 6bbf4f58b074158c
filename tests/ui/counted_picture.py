"""The moment of the Costs screen's pictures with what transcripts tell beside what agents report.

Claude reports its cost, and its files tell the same calls by prices; Codex and Gemini report none,
so theirs is computed; Copilot tells nothing.
"""

from __future__ import annotations

import msgspec

from tests.ui.cost_picture import HAIKU, OF, SESSIONS, day, usage
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.records import BudgetData, Record
from watchgate.core.model.usage_records import (
    CountedData,
    CountedRow,
    KindCosts,
    Limit,
    Minute,
    Part,
)
from watchgate.core.usage.session_usage import NANO
from watchgate.core.usage.usage_by_time import MINUTE_US
from watchgate.core.usage.usage_fold import UsageFold, UsageSnapshot
from watchgate.link.protocol import Snapshot

PRICES = "prices of 2026-11-18, genai-prices 0.2.3"
CENT = NANO // 100
FIVE_HOURS, WEEK = 300, 10_080
SUBS = (("explore-1", 14, 31), ("tests-2", 9, 22))
"""Sub-agents of the first session with their cents and calls."""

KINDS = KindCosts(
    cache_read=52 * CENT, output=38 * CENT, cache_write=19 * CENT, input=3 * CENT
)  # fmt: skip


def counted() -> UsageSnapshot:
    """What the first three sessions add up to; the rest is as it is reported."""
    reported = usage()
    kept = UsageSnapshot(
        sessions=reported.sessions[:1], spent=reported.spent, ran=reported.ran, prices=PRICES
    )
    fold = UsageFold(kept)
    for label, model, cents, *_ in SESSIONS:
        fold.counted(_record(label, model), _data(label, model, cents))
    return fold.snapshot()


def counting() -> Snapshot:
    """The busy picture with what was counted."""
    return msgspec.structs.replace(busy(), usage=counted())


def unpriced() -> UsageSnapshot:
    """The second session used a model that no table has, and some lines could not be read."""
    fold = UsageFold(counted())
    label, model, cents, *_ = SESSIONS[1]
    data = _data(label, model, cents)
    secret = CountedRow(day=day(20), model="gpt-6-secret", calls=3, input=9_100, unpriced=3)
    rows = (*data.rows, secret)
    fold.counted(_record(label, model), msgspec.structs.replace(data, rows=rows, unreadable=3))
    return fold.snapshot()


def _record(label: str, model: str) -> Record:
    return Record(
        v=1,
        seq=1,
        core="core",
        at=NOW_US - 30_000_000,
        kind="usage.counted",
        agent=OF[model],
        session=f"{label}-session",
        data={},
    )


def _data(label: str, model: str, cents: int) -> CountedData:
    _, _, _, tokens, (used, size) = next(each for each in SESSIONS if each[0] == label)
    first = label == SESSIONS[0][0]
    subs = SUBS if first else ()
    inside = sum(part for _, part, _ in subs)
    rows = [
        CountedRow(
            day=day(20),
            model=model,
            calls=64,
            input=tokens.input,
            output=tokens.output,
            cache_read=tokens.cache_read,
            cache_write=tokens.cache_write,
            computed=(cents - inside) * CENT,
        )
    ]
    rows += [
        CountedRow(
            day=day(20),
            model=HAIKU,
            sub=sub,
            calls=calls,
            input=1_100 * calls,
            output=90 * calls,
            computed=part * CENT,
        )
        for sub, part, calls in subs
    ]
    return CountedData(
        rows=tuple(rows),
        source="computed",
        kinds=KINDS if first else None,
        turns=_turns(cents),
        tools=(Part(id="call-7", at=NOW_US, tokens=14_000, cost=12 * NANO // 1000, shared=2),),
        minutes=_minutes(cents),
        context_used=used,
        context_size=size,
        limits=LIMITS.get(OF[model], ()),
        prices=PRICES,
        cwd=f"/home/ana/src/{label}",
    )


LIMITS = {
    "claude": (
        Limit(
            name="5 h",
            used_percent=42.0,
            window_min=FIVE_HOURS,
            resets_at=NOW_US + 136 * MINUTE_US,
        ),
        Limit(
            name="7 d",
            used_percent=18.0,
            window_min=WEEK,
            resets_at=NOW_US + 4 * 24 * 60 * MINUTE_US,
        ),
    ),
    "codex": (
        Limit(
            name="primary",
            used_percent=88.0,
            window_min=FIVE_HOURS,
            resets_at=NOW_US - 4 * MINUTE_US,
        ),
    ),
}
SHARES = (2, 5, 1, 8, 3, 3, 13, 4, 2, 6, 9, 1, 2, 4)


def _turns(cents: int) -> tuple[Part, ...]:
    whole = sum(SHARES)
    return tuple(
        Part(
            id=f"turn-{number}",
            at=NOW_US - (len(SHARES) - number) * 4 * MINUTE_US,
            tokens=9_000 * share,
            cost=cents * CENT * share // whole,
            calls=share,
        )
        for number, share in enumerate(SHARES)
    )


def _minutes(cents: int) -> tuple[Minute, ...]:
    now, whole = NOW_US // MINUTE_US, sum(SHARES)
    return tuple(
        Minute(
            at=now - 4 * (len(SHARES) - number), cost=cents * CENT * share // whole, tokens=4_100
        )
        for number, share in enumerate(SHARES)
    )


def used_up() -> BudgetData:
    """A budget of the day that is used up and asks."""
    return BudgetData(
        scope="day", level="used-up", spent_usd=1.84, limit_usd=1.5, day=day(20), asks=True
    )
