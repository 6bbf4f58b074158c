"""The moment that pictures of the Costs screen show: a fortnight of four sessions' costs."""

from __future__ import annotations

from datetime import date

import msgspec

from tests.ui.picture import NOW_US, busy
from watchgate.core.model.usage_records import Minute
from watchgate.core.usage.session_usage import (
    NANO,
    Meter,
    ReportedUsage,
    SessionUsage,
    Spent,
    Tokens,
)
from watchgate.core.usage.usage_by_time import MINUTE_US, SessionLastHour
from watchgate.core.usage.usage_fold import UsageSnapshot
from watchgate.link.protocol import Snapshot
from watchgate.ui.costs.cost_figures import day_of

SONNET, HAIKU, CODEX, GEMINI = (
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "gpt-5-codex",
    "gemini-2.5-pro",
)
OF = {SONNET: "claude", HAIKU: "claude", CODEX: "codex", GEMINI: "gemini"}

CENTS = {
    **{day: {SONNET: 475} for day in range(1, 6)},
    6: {SONNET: 477},
    7: {SONNET: 80},
    8: {CODEX: 210},
    9: {SONNET: 330},
    10: {SONNET: 390},
    11: {CODEX: 110},
    12: {HAIKU: 20},
    13: {SONNET: 280},
    14: {SONNET: 200, CODEX: 156},
    15: {SONNET: 290, CODEX: 126, HAIKU: 74},
    16: {SONNET: 120, GEMINI: 100},
    18: {SONNET: 228, GEMINI: 102},
    19: {SONNET: 281, CODEX: 279},
    20: {SONNET: 112, CODEX: 41, GEMINI: 31},
}
"""What each model cost on each day of November; nobody watched on the 17th."""

SESSIONS = (
    ("api-fix", SONNET, 112, Tokens(36_300, 38_400, 1_137_400, 36_300), (124_000, 200_000)),
    ("docs", CODEX, 41, Tokens(76_400, 11_000, 325_600, 0), (111_500, 272_000)),
    ("ci", GEMINI, 31, Tokens(205_000, 4_900, 28_000, 0), (912_300, 1_048_576)),
)


def day(number: int) -> int:
    """A day of the pictures' month."""
    return day_of(date(2026, 11, number))


def usage() -> UsageSnapshot:
    """What was reported; Copilot reports nothing."""
    sessions = tuple(
        SessionUsage(
            agent=OF[model],
            session=f"{label}-session",
            label=label,
            at=NOW_US - 30_000_000,
            models=(model,),
            cost=cents * NANO // 100,
            tokens=tokens,
            context_used=context[0],
            context_size=context[1],
            source="reported",
            spent=_told(tokens, cents * NANO // 100, model).spent,
            reported=_told(tokens, cents * NANO // 100, model),
        )
        for label, model, cents, tokens, context in SESSIONS
    )
    spent = tuple(
        Spent(
            day=day(number),
            agent=OF[model],
            model=model,
            cost=cents * NANO // 100,
            source="reported" if OF[model] == "claude" else "computed",
        )
        for number, costs in CENTS.items()
        for model, cents in costs.items()
        if number != 20
    )
    minute = NOW_US // MINUTE_US
    return UsageSnapshot(
        sessions=sessions,
        spent=spent,
        ran=tuple(day(number) for number in CENTS),
        recent=(
            SessionLastHour(
                agent="claude",
                session="api-fix-session",
                reported=(
                    Minute(at=minute - 50, cost=61 * NANO // 100),
                    Minute(at=minute - 3, cost=70 * NANO // 100),
                ),
            ),
        ),
    )


def _told(tokens: Tokens, cost: int, model: str) -> ReportedUsage:
    """What the agent of a session told of it today."""
    part = Spent(
        day=day(20), agent=OF[model], model=model, cost=cost, tokens=tokens, source="reported"
    )
    meter = Meter(source="usage", open=tokens, cost_open=cost)
    return ReportedUsage(cost=cost, tokens=tokens, spent=(part,), meters=(meter,), from_start=True)


def spending() -> Snapshot:
    """The busy picture with what was reported."""
    return msgspec.structs.replace(busy(), usage=usage())
