"""Calls that ran without having passed the gate, and the likely cause of each.

An agent whose hooks are not trusted, not loaded or switched off says nothing about it; that its
calls run is reported by other means: results, transcripts and the streams of `exec` modes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.gate.call_tracker import TrackedCall, ref_of
from watchgate.core.model.events import Event, Lane, Tool

COVERED_SESSIONS_MAX = 2_000
SESSION_IDS_MAX = 4_000
ENDED_IDS_MAX = 500
ENDED_SESSIONS_MAX = 200
"""Sessions that ended last, whose calls a transcript may still report."""
ALL_IDS_MAX = 20_000
TRANSCRIPT: Final = "transcript"
"""The native name of an event that no hook and no stream sent, only a file of the agent's."""

_UNIQUE: Final = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")
"""An id with a long random part is of one call, whichever session or program reports it."""

Cause = Literal[
    "not-awaited",
    "hooks-off",
    "began-before",
    "untrusted",
    "heredoc",
    "no-hook",
    "before-core",
    "not-installed",
    "intended",
    "silent",
    "limits",
    "unknown",
]

CAUSE_WORDS: Final[dict[Cause, str]] = {
    "not-awaited": "the agent probably ran it without waiting for the gate's answer",
    "hooks-off": "the agent was started with its hooks off",
    "began-before": "the agent probably began before its hooks were installed; start it again",
    "untrusted": "the agent probably does not trust its hooks, or has none; watchgate doctor",
    "heredoc": "it is probably the patch inside a shell command that did pass the gate",
    "no-hook": "the agent has no hook for this tool",
    "before-core": "it probably began before this core did",
    "not-installed": "the hooks of its agent are not installed; watchgate install",
    "intended": "the stream is watched without a gate on purpose (tap --no-gate)",
    "silent": "no hook was heard, although they are installed; watchgate doctor",
    "limits": "a limit of its process is too small for hooks to run",
    "unknown": "no hook told that it was to run, and why is not known; watchgate doctor",
}
"""The causes as a person reads them."""

_HOOKED: Final = frozenset({"shell", "read", "edit", "fetch", "mcp"})
"""Classes of tools that hooks report in every agent; for others an agent may have none."""

_HARMLESS: Final = frozenset({"heredoc", "no-hook", "before-core", "not-installed", "intended"})


class AgentTraits(msgspec.Struct, frozen=True, kw_only=True):
    """The traits of an agent that hold for all of its sessions.

    `must_trust` says that it skips hooks which nobody has looked through, without a word;
    `hookless` names its tools that no hook ever reports, and `live` that an open session takes up
    a change of its hooks by itself.
    """

    must_trust: bool = False
    hookless: tuple[str, ...] = ()
    live: bool = False


class SessionProcess(msgspec.Struct, frozen=True, kw_only=True):
    """The process that runs a session, as the system describes it.

    `hooks_off` is the argument that switched its hooks off, empty without one; `began_before` says
    that it was started before the hooks were last changed, `trusted` that it trusts them,
    `installed` that there are any of ours.
    """

    hooks_off: str = ""
    installed: bool = True
    began_before: bool = False
    trusted: bool = False


class UngatedFinding(msgspec.Struct, frozen=True):
    """A call, or a session with its calls, that no gate was asked about.

    `count` is how many calls of its session ran so for this cause, and `first` the reference of the
    first of them.
    """

    cause: Cause
    alarm: bool
    detail: str = ""
    count: int = 1
    first: str = ""

    @property
    def words(self) -> str:
        """Returns the cause in words, with its detail."""
        return (
            f"{CAUSE_WORDS[self.cause]} ({self.detail})" if self.detail else CAUSE_WORDS[self.cause]
        )


class _SessionCoverage(msgspec.Struct):
    """The events of one session so far: whether it asked a gate, and its calls without one.

    `watched` says that a hook reported a call before it ran, whether it could hold it or not,
    `streamed` that a stream reports its calls. `ungated` counts the calls that ran without, with
    the first of them, by their cause, and `nameless` those that hooks reported without an id, by
    what ran.
    """

    gate: bool = False
    watched: bool = False
    streamed: bool = False
    ungated: dict[Cause, tuple[int, str]] = msgspec.field(default_factory=dict)
    nameless: Recent[str, int] = msgspec.field(default_factory=lambda: Recent(SESSION_IDS_MAX))
    not_gated_reported: bool = False
    over: bool = False
    ids: Recent[str, None] = msgspec.field(default_factory=lambda: Recent(SESSION_IDS_MAX))
    process: SessionProcess | None = None

    def know(self, call_id: str) -> None:
        """Notes that an event reported this call."""
        self.ids[call_id] = None

    def count_nameless(self, key: str, more: int) -> None:
        """Counts a call without an id; `key` is the kind of event and what ran."""
        self.nameless.renew(key, self.nameless.get(key, 0) + more)


class GateCoverage:
    """The sessions of one core, as far as it takes to say why a call passed no gate.

    `traits` looks up an agent's traits by its name.
    """

    def __init__(self, traits: Callable[[str], AgentTraits]) -> None:
        self._traits = traits
        self._sessions: Recent[tuple[str, str], _SessionCoverage] = Recent(COVERED_SESSIONS_MAX)
        self._over: deque[_SessionCoverage] = deque()
        self._unique: Recent[str, None] = Recent(ALL_IDS_MAX)

    def on_event(self, event: Event, tool: Tool | None = None) -> None:
        """Notes any event of a session, and the call that it is about.

        One that asks a gate says that the hooks of the session work.
        """
        state = self._sessions.get((event.agent, event.session))
        if state is None or (state.over and event.kind == "session.start"):
            state = self._new(event.agent, event.session)
        if event.lane is Lane.GATE or event.lane is Lane.GATE_READ:
            state.gate = True
        if event.numbering:
            state.streamed = True
        elif event.kind == "tool.pre":
            state.watched = True
            if tool is not None and not tool.call_id:
                state.count_nameless(f"before {tool.input_hash}", 1)
        if tool is not None and tool.call_id:
            self._know(state, tool.call_id)

    def ended(self, event: Event, tool: Tool) -> None:
        """Notes a result: what ran may be another input than a hook reported before."""
        state = self._sessions.get((event.agent, event.session))
        if state is not None and not tool.call_id and not event.numbering:
            state.count_nameless(f"after {tool.input_hash}", 1)

    def knows_call(self, agent: str, session: str, tool: Tool) -> bool:
        """Returns whether an event reported this call, or a stream reports its session.

        A call that hooks reported without an id is known once, by what it ran.
        """
        call_id = tool.call_id or ""
        state = self._sessions.get((agent, session))
        if call_id in self._unique:
            return True
        if state is None:
            return False
        if state.streamed or call_id in state.ids:
            return True
        keys = (f"before {tool.input_hash}", f"after {tool.input_hash}")
        known = [key for key in keys if state.nameless.get(key, 0)]
        for key in known:
            state.count_nameless(key, -1)
        if known:
            self._know(state, call_id)
        return bool(known)

    def knows_session(self, agent: str, session: str) -> bool:
        """Returns whether any event came from this session."""
        return (agent, session) in self._sessions

    def set_process(self, agent: str, session: str, around: SessionProcess) -> None:
        """Notes the system's description of a session's process."""
        state = self._sessions.get((agent, session)) or self._new(agent, session)
        state.process = around

    def ran(
        self, event: Event, tool: Tool, call: TrackedCall | None, others: list[TrackedCall]
    ) -> UngatedFinding | None:
        """Returns the finding that this call ran ungated; None where it was gated or only watched.

        `others` are the calls of its session that are open or ended last.
        """
        known = self._sessions.get((event.agent, event.session))
        state = known or self._new(event.agent, event.session)
        if tool.call_id:
            self._know(state, tool.call_id)
        if call is not None and call.waited:
            if not call.gated or call.passed:
                return None
            cause: Cause = "not-awaited"
        elif call is not None and (not event.numbering or (state.watched and not state.gate)):
            return None  # switched off, or only watched: that is the session's own state
        elif tool.native_name in self._traits(event.agent).hookless or (
            event.native == TRANSCRIPT and state.watched and tool.cls not in _HOOKED
        ):
            cause = "no-hook"
        elif tool.cls == "edit" and (patch := next(filter(_may_be_it, others), None)) is not None:
            patch.patches = False  # it holds one, and that is reported now
            cause = "heredoc"
        elif known is None and event.native != TRANSCRIPT:
            cause = "before-core"
        else:
            cause = self._cause(event, state)
        count, first = state.ungated.get(cause, (0, ref_of(event, tool, call)))
        state.ungated[cause] = count + 1, first
        return UngatedFinding(
            cause, cause not in _HARMLESS, _detail(cause, state), count + 1, first
        )

    def not_gated(self, event: Event) -> UngatedFinding | None:
        """Returns once why a session that ran calls has never asked a gate; else None."""
        state = self._sessions.get((event.agent, event.session))
        if state is None or state.gate or state.watched or state.not_gated_reported:
            return None
        ran = sum(count for count, _first in state.ungated.values())
        if not (event.numbering or event.native == TRANSCRIPT or ran > 1):
            return None  # only watched, or a call that began before this core did
        state.not_gated_reported = True
        cause = self._cause(event, state)
        return UngatedFinding(cause, alarm=cause not in _HARMLESS, detail=_detail(cause, state))

    def over(self, event: Event) -> None:
        """Notes the end of a session; its calls are held until it starts again, or for a while.

        Its transcript is read only afterwards, and reports the same calls: so their ids stay until
        `ENDED_SESSIONS_MAX` others have ended.
        """
        state = self._sessions.get((event.agent, event.session))
        if state is None:
            return
        for id in list(state.ids)[:-ENDED_IDS_MAX]:
            del state.ids[id]
        if not state.over:
            state.over = True
            self._over.append(state)
            if len(self._over) > ENDED_SESSIONS_MAX:
                self._over.popleft().ids.clear()

    def _know(self, state: _SessionCoverage, call_id: str) -> None:
        state.know(call_id)
        if _UNIQUE.search(call_id):
            self._unique[call_id] = None

    def _cause(self, event: Event, state: _SessionCoverage) -> Cause:
        around = state.process or SessionProcess()
        hook_reported = state.gate or state.watched
        if event.no_gate and not hook_reported:
            return "intended"
        if around.hooks_off:
            return "hooks-off"
        if not (around.installed or hook_reported):
            return "not-installed"
        if around.began_before:
            return "began-before"
        if self._traits(event.agent).must_trust and not (state.gate or around.trusted):
            return "untrusted"
        return "silent" if event.native == TRANSCRIPT and not hook_reported else "unknown"

    def _new(self, agent: str, session: str) -> _SessionCoverage:
        state = self._sessions[agent, session] = _SessionCoverage()
        return state


def _may_be_it(call: TrackedCall) -> bool:
    """Returns whether this may be the shell command that a patch came in.

    Codex reports no end of those.
    """
    return call.patches and call.passed and call.decided != "deny"


def _detail(cause: Cause, state: _SessionCoverage) -> str:
    around = state.process
    return around.hooks_off if around is not None and cause == "hooks-off" else ""
