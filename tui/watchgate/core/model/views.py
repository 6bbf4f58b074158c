"""Views for screens and scripts: plain values that `State` keeps and a snapshot carries."""

from __future__ import annotations

import msgspec

from watchgate.core.model.call_row import AsAsked
from watchgate.core.model.records import ATTEMPT, EscalatedData, Fact, RequestData, TamperedData


class PendingView(msgspec.Struct, frozen=True, kw_only=True):
    """One open request: its id, when it came (UTC µs), whose it is, and everything asked.

    `facts` are what it would touch, as far as somebody looked (`cut`: not at everything).
    `escalated` says who else was told of it, or could not be.
    """

    id: str
    at: int
    agent: str
    session: str
    label: str
    call: str
    data: RequestData
    facts: tuple[Fact, ...] = ()
    cut: bool = False
    escalated: tuple[EscalatedData, ...] = ()


class Settled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of one request: the word, who ended it, with which scope, after how many seconds.

    `at` is UTC µs; `agent`, `session` and `call` find its row among the calls. `asked` is what the
    agent had asked for, where the request was about something else.
    """

    request: str
    at: int
    word: str
    by: str
    label: str
    tool: str
    summary: str
    waited_s: float
    agent: str = ""
    session: str = ""
    call: str = ""
    risk: str = "unknown"
    scope: str = "once"
    reason: str = ""
    asked: AsAsked | None = None


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of how the questions and calls since midnight (of the core's own day, UTC) ended.

    With `since` (UTC µs) they were counted from then on: a core that starts late on a busy day does
    not go through all of it.
    """

    since: int = 0
    allowed_by_operator: int = 0
    allowed_by_grant: int = 0
    denied_by_operator: int = 0
    denied_by_rule: int = 0
    denied_by_timeout: int = 0
    denied_other: int = 0
    handed_back: int = 0
    no_opinion: int = 0
    alarms: int = 0


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the gate: profile, off switch (UTC µs, 0 = until restart), journal.

    `policy` says what somebody has to know or do about the rules, empty where all is well;
    `policy_broken` that they could not be read, so that every call is asked. `project_fault` says
    what is wrong with the newest file of a project that could not be used. `tampered` are the files
    that the gate rests on and that are not what they were, each until it is mended, and the newest
    attempt of no proven person's until a proven one switches the gate on.
    """

    profile: str = "guard"
    off_until: int | None = None
    off_by: str = ""
    journal: str = "ok"
    policy: str = ""
    policy_broken: bool = False
    project_fault: str = ""
    tampered: tuple[TamperedData, ...] = ()

    @property
    def is_attempted(self) -> bool:
        """Tells whether an attempt is among what it tells of."""
        return any(each.part == ATTEMPT for each in self.tampered)
