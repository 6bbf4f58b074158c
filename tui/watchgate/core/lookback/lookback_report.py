"""The report of a look back, ready to be shown.

- The cost of model calls over a span of days.
"""

from __future__ import annotations

import msgspec

from watchgate.core.lookback.proposals import Proposal
from watchgate.core.model.assessment import Risk
from watchgate.core.policy.rules.profiles import GateAction


class ModelCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of some model calls, and what is known of its completeness.

    `usd_nano` is in billionths of a dollar, None where nothing has a known price.

    `least` says that it is a lower bound; `unpriced` names the models without a price. `prices`
    says in words where the prices are from.
    """

    usd_nano: int | None = None
    is_lower_bound: bool = msgspec.field(name="least", default=False)
    calls: int = 0
    tokens: int = 0
    unpriced: tuple[str, ...] = ()
    prices: str = ""


RISKS: tuple[Risk, ...] = ("critical", "high", "unknown", "medium", "low")
"""The gravest first."""


class ProfileTally(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of one profile: calls held until somebody answers, and calls denied.

    `grave` counts the held ones of high and critical risk, `again` those that had been held before,
    the same call in the same folder; `granted` those of them that one standing grant would have
    answered.
    """

    held: int = 0
    grave: int = 0
    denied: int = 0
    again: int = 0
    granted: int = 0


class HeldRates(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of the calls that each profile would have held, and of the hours they came in.

    `hours` are those of the clock in which an agent asked for something. `guard` is with somebody
    in front of every agent, `guard_alone` with nobody.
    """

    hours: int = 0
    guard: int = 0
    guard_alone: int = 0
    strict: int = 0

    def an_hour(self, held: int) -> float:
        """Returns the number of held calls per hour, given their total."""
        return held / self.hours if self.hours else 0.0


class GraveCall(msgspec.Struct, frozen=True, kw_only=True):
    """One high or critical call, `count` times asked for; agent, folder and time of the last one.

    `text` has its secrets replaced, but is text from outside. Times are UTC µs.
    """

    risk: Risk
    rule: str
    reason: str
    suggest: str
    text: str
    tool: str
    agent: str
    cwd: str
    at_us: int
    first_us: int
    count: int
    guard: GateAction
    strict: GateAction


class AgentCounts(msgspec.Struct, frozen=True):
    """The calls and sessions of one agent."""

    agent: str
    calls: int
    sessions: int


class LookbackReport(msgspec.Struct, frozen=True, kw_only=True):
    """All counts of a look back, of calls that agents asked for since `since_us` (UTC µs).

    `commands` are the shell calls among `calls`; `questions` are put to a person anyway, and not
    among them. `days` are those, by the local calendar, on which anything was asked for. `undated`
    calls have no time, and are in no other count. `proposals` are rules and grants of a person's
    own that would take most of the held calls away, for `guard` with nobody there, then `strict`.
    """

    since_us: int
    now_us: int
    calls: int = 0
    commands: int = 0
    by_subs: int = 0
    alone: int = 0
    distinct: int = 0
    sessions: int = 0
    days: int = 0
    questions: int = 0
    undated: int = 0
    risks: dict[Risk, int] = {}
    agents: tuple[AgentCounts, ...] = ()
    guard: ProfileTally = ProfileTally()
    strict: ProfileTally = ProfileTally()
    grave: tuple[GraveCall, ...] = ()
    rates: HeldRates = HeldRates()
    proposals: tuple[Proposal, ...] = ()
