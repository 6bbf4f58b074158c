"""Views for screens and scripts: plain values that `State` keeps and a snapshot carries."""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.model.records import ATTEMPT, EscalatedData, Fact, RequestData, TamperedData
from watchgate.core.model.sessions import Guess, SessionState, guessed, shown


class SubView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sub-agent of a session: what the agent calls its kind, what it does and has called."""

    id: str
    type: str = ""
    state: SessionState = SessionState.UNKNOWN
    since: int = 0
    calls: int = 0

    @property
    def name(self) -> str:
        """Return the name that a person knows it by."""
        return self.type or self.id[:8]


_CHANGED: Final = {"operator": "edited", "handler": "rewritten", "agent": "altered"}


class AsAsked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A call as its agent asked for it, of which another one took the place.

    `summary` and `risk` are its line and risk; `by` is who changed it: an operator, a handler, or
    the agent itself after the decision.
    """

    summary: str
    risk: str = "unknown"
    by: str = "operator"

    @property
    def verb(self) -> str:
        """The word for the call that took its place: edited, rewritten, altered."""
        return _CHANGED.get(self.by, "changed")


class CallRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call as a line of the live table.

    `glyph` is the gate's decision (`?` pending, `+` allowed by an operator, `=` by rule or grant,
    `x` denied, `T` timed out, `-` withdrawn, `~` answered elsewhere, `b` handed back, empty: no
    opinion), `stage` the word for where the call stands, `at` and `ended_at` UTC µs. `hidden_by` is
    the handler that a dispatch preset lets hide the call from view, which prevents nothing, and
    `shown_by` the one that it lets show the call as `shown`, which changes nothing that ran. `sub`
    is the sub-agent that calls and `sub_type` its kind; `gated` says that a gate was asked, and
    `why` in words why a call ran without. `word` is how the gate's part ended, once it has;
    `lane` is the one it first came by, `rule` the policy's that spoke. `speaks_for` counts the
    calls of its session that ran ungated for the same cause, where this is the first of them.
    `seq` numbers the record that told of the call first: calls may come in the same microsecond.

    `summary` and `risk` are those of what ran or would run, `asked` is what the agent had asked for
    where that is something else. `took_ms` is the machine's time alone and `waited_ms` how long a
    person was waited for; `freed_at` (UTC µs) is when that was over, 0 where the agent asked
    somebody itself, so that nobody knows.
    """

    at: int
    agent: str
    session: str
    call: str
    label: str
    tool: str
    risk: str
    glyph: str
    stage: str
    summary: str
    request: str | None = None
    took_ms: int | None = None
    ended_at: int | None = None
    alarm: bool = False
    hidden_by: str = ""
    shown: str = ""
    shown_by: str = ""
    sub: str = ""
    sub_type: str = ""
    gated: bool = False
    why: str = ""
    word: str = ""
    lane: str = ""
    rule: str = ""
    speaks_for: int = 0
    seq: int = 0
    asked: AsAsked | None = None
    waited_ms: int | None = None
    freed_at: int | None = None


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session: who, where, what it is doing, and whether its calls pass the gate.

    `title` are the first words that were asked for in it.
    `recent` counts its calls of the last minute by UTC second, the oldest first; `gated` is None
    until a tool call told; `cost_usd` is None while unknown. `hidden_by` is the handler that hides
    the rest of the turn from view, `turn_over_at` (UTC µs) when the last one ended.

    `ran` counts the calls that are known to have run and `passed` those of them that a gate had
    answered; `cause` says in words why a session is not gated. `why` is what its state was inferred
    from, where no event told it; `left_at` (UTC µs) when a hook last went away before its answer.

    An operator `answered` so many of its requests and `allowed` so many of them, each after the
    seconds in `waits` (the newest ones). Until `paused_until` (UTC µs) what it would ask is denied,
    because of `paused_why`.

    `asks_there` are the calls about which the agent asks in its own terminal, an empty one where it
    does not say which. `host` names the machine where several are watched. `pid` and `env` are the
    place of the agent, as the hook of its newest request told it.
    """

    agent: str
    session: str
    label: str
    title: str = ""
    state: SessionState = SessionState.UNKNOWN
    since: int = 0
    seen_at: int = 0
    cwd: str = ""
    mode: str | None = None
    autonomous: bool = False
    model: str | None = None
    calls: int = 0
    pending: int = 0
    gated: bool | None = None
    cost_usd: float | None = None
    recent: tuple[tuple[int, int], ...] = ()
    hidden_by: str = ""
    turn_over_at: int = 0
    ran: int = 0
    passed: int = 0
    cause: str = ""
    why: str = ""
    left_at: int = 0
    asks_there: tuple[str, ...] = ()
    subs: tuple[SubView, ...] = ()
    answered: int = 0
    allowed: int = 0
    waits: tuple[float, ...] = ()
    paused_until: int = 0
    paused_why: str = ""
    host: str = ""
    pid: int | None = None
    env: dict[str, str] = {}

    @property
    def median_s(self) -> float | None:
        """Return the median time that the operator took over a request, in seconds."""
        waits, half = sorted(self.waits), len(self.waits) // 2
        return (waits[half] + waits[~half]) / 2 if waits else None

    @property
    def shown(self) -> SessionState:
        """The state to show, which an open question outranks."""
        return shown(self.state, pending=self.pending, asks_there=bool(self.asks_there))

    def at(self, now_us: int) -> Guess:
        """The state to show at a moment, with what it is inferred from where no event told it."""
        if self.pending or self.asks_there or self.state is not SessionState.WORKING:
            return Guess(self.shown, self.why)
        return guessed(now_us, seen_at=self.seen_at, left_at=self.left_at)


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
        """Tell whether an attempt is among what it tells of."""
        return any(each.part == ATTEMPT for each in self.tampered)
