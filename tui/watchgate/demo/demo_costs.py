"""The totals of the demo's sessions: invented figures as transcripts would give them.

Nothing is read and nothing priced: one session's agent reports its cost as well, two have computed
figures alone, and a fortnight of earlier sessions stands for transcripts that lay there before.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.model.records import Draft
from watchgate.core.model.usage_records import (
    CountedData,
    CountedRow,
    KindCosts,
    Limit,
    Minute,
    Part,
)
from watchgate.demo.demo_script import API, CI, DOCS, HOME, DemoSession

PRICES: Final = "prices of 2026-11-18, genai-prices 0.2.3"
SONNET, HAIKU, CODEX = "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5-codex"
CENT: Final = 10_000_000
DAY_US: Final = 86_400 * 1_000_000
MINUTE_US: Final = 60 * 1_000_000
PERCENT: Final = 100


class DemoUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The totals of one session when its files are read, `at_s` into the demo."""

    at_s: float
    agent: str
    session: str
    data: CountedData


class _Use(msgspec.Struct, frozen=True, kw_only=True):
    """One session by the end of the demo: whole figures, and the parts of them at some times."""

    actor: DemoSession
    model: str
    cents: int
    tokens: tuple[int, int, int, int]
    context: tuple[int, int]
    kinds: tuple[int, int, int, int]
    subs: tuple[tuple[str, int, int], ...] = ()
    parts: tuple[tuple[float, int], ...]
    calls: tuple[tuple[int, ...], ...]
    limits: tuple[Limit, ...] = ()


_TURN_SHARES: Final = (4, 9, 2, 14, 7, 5, 22, 11, 6, 20)
_API = _Use(
    actor=API,
    model=SONNET,
    cents=112,
    tokens=(36_300, 38_400, 1_137_400, 36_300),
    context=(124_000, 200_000),
    kinds=(3, 38, 52, 19),
    subs=(("explore", 14, 31), ("tests", 9, 22)),
    parts=((4, 20), (14, 38), (44, 69), (84, 100)),
    calls=((3, 4), (8, 9), (14,), (16, 18), (20,), (24,), (27,), (30,)),
    limits=(
        Limit(name="5 h", used_percent=42.0, window_min=300, resets_at=2 * 3600),
        Limit(name="7 d", used_percent=18.0, window_min=10_080, resets_at=4 * 86_400),
    ),
)
_CI = _Use(
    actor=CI,
    model=HAIKU,
    cents=31,
    tokens=(61_000, 9_400, 1_240_000, 63_700),
    context=(174_000, 200_000),
    kinds=(6, 5, 12, 8),
    parts=((3, 40), (18, 80), (90, 100)),
    calls=((2,), (7,), (13,), (17,), (21,), (28,), (31,)),
)
_DOCS = _Use(
    actor=DOCS,
    model=CODEX,
    cents=41,
    tokens=(76_400, 11_000, 325_600, 0),
    context=(111_500, 272_000),
    kinds=(10, 11, 20, 0),
    parts=((2, 30), (16, 60), (75, 100)),
    calls=((1,), (6,), (11, 12), (26,)),
    limits=(Limit(name="5 h", used_percent=61.0, window_min=300, resets_at=3 * 3600),),
)
_EARLIER: Final = (
    ("billing", "claude", SONNET, ((13, 80), (11, 330), (10, 390), (7, 280), (6, 200), (5, 290))),
    ("billing-2", "claude", SONNET, ((4, 120), (2, 228), (1, 281))),
    ("handbook", "codex", CODEX, ((12, 210), (9, 110), (6, 156), (5, 126), (1, 279))),
    ("nightly", "claude", HAIKU, ((8, 20), (5, 74), (4, 100), (2, 102))),
)
"""Sessions of earlier days: label, agent, model, and cents by how many days ago."""


def counted(start_us: int) -> tuple[DemoUsage, ...]:
    """Everything that is told of them by the demo that begins at that moment, in its order."""
    usages = [
        DemoUsage(at_s=-1.5, agent=agent, session=f"demo-{label}", data=data)
        for label, agent, model, days in _EARLIER
        for data in [_earlier(label, model, days, start_us // DAY_US)]
    ]
    for use in (_API, _CI, _DOCS):
        for at_s, percent in use.parts:
            data = _now(use, percent, start_us, at_s)
            actor = use.actor
            usages.append(DemoUsage(at_s=at_s, agent=actor.agent, session=actor.session, data=data))
    return tuple(sorted(usages, key=lambda each: each.at_s))


def draft(usage: DemoUsage, start_us: int) -> Draft:
    """The record of it."""
    return Draft(
        kind="usage.counted",
        at=start_us + round(usage.at_s * 1_000_000),
        agent=usage.agent,
        session=usage.session,
        data=usage.data,
    )


def _earlier(label: str, model: str, days: tuple[tuple[int, int], ...], today: int) -> CountedData:
    rows = tuple(
        CountedRow(
            day=today - ago,
            model=model,
            calls=cents // 2,
            input=900 * cents,
            output=120 * cents,
            cache_read=7_400 * cents,
            computed=cents * CENT,
        )
        for ago, cents in days
    )
    cwd = f"{HOME}/src/{label}"
    return CountedData(rows=rows, source="computed", prices=PRICES, label=label, cwd=cwd)


def _now(use: _Use, percent: int, start_us: int, at_s: float) -> CountedData:
    day = start_us // DAY_US
    inside = sum(cents for _, cents, _ in use.subs)
    own = [count * percent // PERCENT for count in use.tokens]
    rows = [
        CountedRow(
            day=day,
            model=use.model,
            calls=64 * percent // PERCENT,
            input=own[0],
            output=own[1],
            cache_read=own[2],
            cache_write=own[3],
            computed=(use.cents - inside) * CENT * percent // PERCENT,
        )
    ]
    rows += [
        CountedRow(
            day=day,
            model=HAIKU,
            sub=sub,
            calls=calls,
            input=1_100 * calls * percent // PERCENT,
            output=90 * calls * percent // PERCENT,
            computed=cents * CENT * percent // PERCENT,
        )
        for sub, cents, calls in use.subs
    ]
    parts = [cents * CENT * percent // PERCENT for cents in use.kinds]
    limits = tuple(
        msgspec.structs.replace(each, resets_at=start_us + each.resets_at * 1_000_000)
        for each in use.limits
    )
    return CountedData(
        rows=tuple(rows),
        source="computed",
        kinds=KindCosts(input=parts[0], output=parts[1], cache_read=parts[2], cache_write=parts[3]),
        turns=_turns(use, percent, start_us, at_s),
        tools=_tools(use, start_us),
        minutes=_minutes(use, percent, start_us, at_s),
        context_used=use.context[0] * percent // PERCENT,
        context_size=use.context[1],
        limits=limits,
        prices=PRICES,
        cwd=use.actor.cwd,
    )


def _turns(use: _Use, percent: int, start_us: int, at_s: float) -> tuple[Part, ...]:
    """The turns so far: one every three minutes, the newest of them goes on."""
    shown = max(1, len(_TURN_SHARES) * percent // PERCENT)
    tokens = sum(use.tokens) // PERCENT
    return tuple(
        Part(
            id=f"turn-{number}",
            at=start_us + round(at_s * 1_000_000) - 3 * MINUTE_US * (shown - number - 1),
            tokens=tokens * share,
            cost=use.cents * CENT * share // PERCENT,
            calls=share,
        )
        for number, share in enumerate(_TURN_SHARES[:shown])
    )


def _tools(use: _Use, start_us: int) -> tuple[Part, ...]:
    """Returns the usage of the model call behind each tool call; one asked for a whole group."""
    cost = use.cents * CENT // (4 * len(use.calls))
    tokens = sum(use.tokens) // 64
    return tuple(
        Part(
            id=f"toolu_demo_{number:02d}",
            at=start_us,
            tokens=tokens,
            cost=cost,
            shared=len(group),
        )
        for group in use.calls
        for number in group
    )


def _minutes(use: _Use, percent: int, start_us: int, at_s: float) -> tuple[Minute, ...]:
    now = (start_us + round(at_s * 1_000_000)) // MINUTE_US
    tokens = (use.tokens[0] + use.tokens[1]) // PERCENT
    busy = len(use.calls) % len(_TURN_SHARES)
    return tuple(
        Minute(
            at=now - 4 * number,
            cost=use.cents * CENT * share * percent // PERCENT // PERCENT,
            tokens=tokens * share,
        )
        for number, share in enumerate((*_TURN_SHARES[busy:], *_TURN_SHARES[:busy]))
    )
