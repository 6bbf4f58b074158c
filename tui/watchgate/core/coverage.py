"""What ran, held against what passed the gate: the likely cause of each call that did not.

An agent whose hooks are not trusted, not loaded or switched off says nothing about it; that its
calls run is told by other means, such as results, transcripts and the streams of `exec` modes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from watchgate.core.calls import Call, ref_of
from watchgate.core.events import Event, Lane, Tool
from watchgate.core.recent import Recent

SESSIONS_KEPT = 2_000
IDS_KEPT = 4_000
IDS_KEPT_AFTER = 500
OVER_KEPT = 200
"""Sessions that ended last, whose calls a transcript may still tell of."""
ALL_IDS_KEPT = 20_000
TRANSCRIPT: Final = "transcript"
"""The native name of an event that no hook and no stream told, only a file of the agent's."""

_UNIQUE: Final = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")
"""An id with a long random part is of one call, whichever session or program tells of it."""

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

WORDS: Final[dict[Cause, str]] = {
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
"""Classes of tools that hooks tell of in every agent; for others an agent may have none."""

_HARMLESS: Final = frozenset({"heredoc", "no-hook", "before-core", "not-installed", "intended"})


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of every session of an agent.

    `must_trust` says that it skips hooks which nobody has looked through, without a word;
    `hookless` names its tools of which no hook ever tells, and `live` that an open session takes up
    a change of its hooks by itself.
    """

    must_trust: bool = False
    hookless: tuple[str, ...] = ()
    live: bool = False


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the system tells of the process that runs a session.

    `hooks_off` is the argument that switched its hooks off, empty without one; `began_before` says
    that it was started before the hooks were last changed, `trusted` that it trusts them,
    `installed` that there are any of ours.
    """

    hooks_off: str = ""
    installed: bool = True
    began_before: bool = False
    trusted: bool = False


class Ungated(msgspec.Struct, frozen=True):
    """A call, or a session with what it calls, that no gate was asked about.

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
        """The cause in words, with what shows it."""
        return f"{WORDS[self.cause]} ({self.detail})" if self.detail else WORDS[self.cause]


class _Told(msgspec.Struct):
    """What one session told so far: whether it asked a gate, and how many calls ran without.

    `watched` says that a hook told of a call before it ran, whether it could hold it or not,
    `streamed` that a stream tells of its calls. `ungated` counts the calls that ran without, with
    the first of them, by their cause, and `nameless` those that hooks told of without an id, by
    what ran.
    """

    gate: bool = False
    watched: bool = False
    streamed: bool = False
    ungated: dict[Cause, tuple[int, str]] = msgspec.field(default_factory=dict)
    nameless: Recent[str, int] = msgspec.field(default_factory=lambda: Recent(IDS_KEPT))
    said: bool = False
    over: bool = False
    ids: Recent[str, None] = msgspec.field(default_factory=lambda: Recent(IDS_KEPT))
    around: Surroundings | None = None

    def know(self, call_id: str) -> None:
        """An event told of this call."""
        self.ids[call_id] = None

    def count_nameless(self, key: str, more: int) -> None:
        """Count a call without an id; `key` is what ran, and when a hook told of it."""
        self.nameless.renew(key, self.nameless.get(key, 0) + more)


class Coverage:
    """The sessions of one core, as far as it takes to say why a call passed no gate.

    `traits` tells of an agent by its name.
    """

    def __init__(self, traits: Callable[[str], Traits]) -> None:
        self._traits = traits
        self._told: Recent[tuple[str, str], _Told] = Recent(SESSIONS_KEPT)
        self._over: deque[_Told] = deque()
        self._unique: Recent[str, None] = Recent(ALL_IDS_KEPT)

    def heard(self, event: Event, tool: Tool | None = None) -> None:
        """Note any event of a session, and the call that it tells of.

        One that asks a gate says that the hooks of the session work.
        """
        told = self._told.get((event.agent, event.session))
        if told is None or (told.over and event.kind == "session.start"):
            told = self._new(event.agent, event.session)
        if event.lane is Lane.GATE or event.lane is Lane.GATE_READ:
            told.gate = True
        if event.numbering:
            told.streamed = True
        elif event.kind == "tool.pre":
            told.watched = True
            if tool is not None and not tool.call_id:
                told.count_nameless(f"before {tool.input_hash}", 1)
        if tool is not None and tool.call_id:
            self._know(told, tool.call_id)

    def ended(self, event: Event, tool: Tool) -> None:
        """Note a result: what ran may be another input than a hook told of before."""
        told = self._told.get((event.agent, event.session))
        if told is not None and not tool.call_id and not event.numbering:
            told.count_nameless(f"after {tool.input_hash}", 1)

    def knows(self, agent: str, session: str, tool: Tool) -> bool:
        """Whether an event told of this call, while that is kept, or a stream tells of its session.

        A call that hooks told of without an id is known once, by what it ran.
        """
        call_id = tool.call_id or ""
        told = self._told.get((agent, session))
        if call_id in self._unique:
            return True
        if told is None:
            return False
        if told.streamed or call_id in told.ids:
            return True
        keys = (f"before {tool.input_hash}", f"after {tool.input_hash}")
        known = [key for key in keys if told.nameless.get(key, 0)]
        for key in known:
            told.count_nameless(key, -1)
        if known:
            self._know(told, call_id)
        return bool(known)

    def heard_of(self, agent: str, session: str) -> bool:
        """Tell whether anything was heard of this session."""
        return (agent, session) in self._told

    def learn(self, agent: str, session: str, around: Surroundings) -> None:
        """Note what the system tells of a session's process."""
        told = self._told.get((agent, session)) or self._new(agent, session)
        told.around = around

    def ran(
        self, event: Event, tool: Tool, call: Call | None, others: list[Call]
    ) -> Ungated | None:
        """Why this call ran without the gate; None where it passed one, or is only watched.

        `others` are the calls of its session that are open or ended last.
        """
        known = self._told.get((event.agent, event.session))
        told = known or self._new(event.agent, event.session)
        if tool.call_id:
            self._know(told, tool.call_id)
        if call is not None and call.waited:
            if not call.gated or call.passed:
                return None
            cause: Cause = "not-awaited"
        elif call is not None and (not event.numbering or (told.watched and not told.gate)):
            return None  # switched off, or only watched: that is the session's own state
        elif tool.native_name in self._traits(event.agent).hookless or (
            event.native == TRANSCRIPT and told.watched and tool.cls not in _HOOKED
        ):
            cause = "no-hook"
        elif tool.cls == "edit" and (patch := next(filter(_may_be_it, others), None)) is not None:
            patch.patches = False  # it holds one, and that is told
            cause = "heredoc"
        elif known is None and event.native != TRANSCRIPT:
            cause = "before-core"
        else:
            cause = self._cause(event, told)
        count, first = told.ungated.get(cause, (0, ref_of(event, tool, call)))
        told.ungated[cause] = count + 1, first
        return Ungated(cause, cause not in _HARMLESS, _detail(cause, told), count + 1, first)

    def not_gated(self, event: Event) -> Ungated | None:
        """Why a session that ran a call has never asked a gate; told once, None where it has."""
        told = self._told.get((event.agent, event.session))
        if told is None or told.gate or told.watched or told.said:
            return None
        ran = sum(count for count, _first in told.ungated.values())
        if not (event.numbering or event.native == TRANSCRIPT or ran > 1):
            return None  # only watched, or a call that began before this core did
        told.said = True
        cause = self._cause(event, told)
        return Ungated(cause, alarm=cause not in _HARMLESS, detail=_detail(cause, told))

    def over(self, event: Event) -> None:
        """A session ended; what it told stays until it starts again, or others need the room.

        Its transcript is read only afterwards, and tells of the same calls: so their ids stay until
        `OVER_KEPT` others have ended.
        """
        told = self._told.get((event.agent, event.session))
        if told is None:
            return
        for id in list(told.ids)[:-IDS_KEPT_AFTER]:
            del told.ids[id]
        if not told.over:
            told.over = True
            self._over.append(told)
            if len(self._over) > OVER_KEPT:
                self._over.popleft().ids.clear()

    def _know(self, told: _Told, call_id: str) -> None:
        told.know(call_id)
        if _UNIQUE.search(call_id):
            self._unique[call_id] = None

    def _cause(self, event: Event, told: _Told) -> Cause:
        around = told.around or Surroundings()
        heard = told.gate or told.watched
        if event.no_gate and not heard:
            return "intended"
        if around.hooks_off:
            return "hooks-off"
        if not (around.installed or heard):
            return "not-installed"
        if around.began_before:
            return "began-before"
        if self._traits(event.agent).must_trust and not (told.gate or around.trusted):
            return "untrusted"
        return "silent" if event.native == TRANSCRIPT and not heard else "unknown"

    def _new(self, agent: str, session: str) -> _Told:
        told = self._told[agent, session] = _Told()
        return told


def _may_be_it(call: Call) -> bool:
    """Whether this may be the shell command that a patch came in: Codex tells no end of those."""
    return call.patches and call.passed and call.decided != "deny"


def _detail(cause: Cause, told: _Told) -> str:
    around = told.around
    return around.hooks_off if around is not None and cause == "hooks-off" else ""
