"""What a screen or a script shows: plain values that `State` keeps and a snapshot carries."""

from __future__ import annotations

import msgspec

from watchgate.core.records import RequestData
from watchgate.core.sessions import SessionState, shown


class CallRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call as a line of the live table.

    `glyph` is the gate's decision (`?` pending, `+` allowed by an operator, `=` by rule or grant,
    `x` denied, `T` timed out, `-` withdrawn, `~` answered elsewhere, `b` handed back, empty: no
    opinion), `stage` the word for where the call stands, `at` and `ended_at` UTC µs. `hidden_by` is
    the handler that a dispatch preset lets hide the call from view, which prevents nothing, and
    `shown_by` the one that it lets show the call as `shown`, which changes nothing that ran.
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


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session: who, where, what it is doing, and whether its calls pass the gate.

    `recent` counts its calls of the last minute by UTC second, the oldest first; `gated` is None
    until a tool call told; `cost_usd` is None while unknown. `hidden_by` is the handler that hides
    the rest of the turn from view, `turn_over_at` (UTC µs) when the last one ended.
    """

    agent: str
    session: str
    label: str
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

    @property
    def shown(self) -> SessionState:
        """The state to show, which an open question outranks."""
        return shown(self.state, pending=self.pending)


class PendingView(msgspec.Struct, frozen=True, kw_only=True):
    """One open request: its id, when it came (UTC µs), whose it is, and everything asked."""

    id: str
    at: int
    agent: str
    session: str
    label: str
    call: str
    data: RequestData


class LastDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The newest settled request, for the line that stands where the dock was."""

    request: str
    at: int
    word: str
    by: str
    label: str
    tool: str
    summary: str
    waited_s: float


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """How the questions and calls since midnight (of the core's own day, UTC) ended."""

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
    """Whether the gate is in force: profile, off switch (UTC µs, 0 = until restart), journal."""

    profile: str = "guard"
    off_until: int | None = None
    off_by: str = ""
    journal: str = "ok"
