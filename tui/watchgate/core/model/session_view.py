"""One session as screens and scripts see it, with its sub-agents."""

from __future__ import annotations

import msgspec

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
        """Returns the name that a person knows it by."""
        return self.type or self.id[:8]


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
        """Returns the median time that the operator took over a request, in seconds."""
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
