"""The sender of stream lines: its sessions, and the calls and questions that are still open.

Lines of one process share a source, also when each comes over a connection of its own.
"""

from __future__ import annotations

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Body, Event, Kind, Lane, SessionChange, Text, Tool, ToolCall

MAX_OPEN_CALLS = 500
MAX_SESSIONS = 200
MAX_INPUT_BYTES = 16 * 1024
GUESSED = (
    "these lines name no session: they are told apart by the process that sends them, and two"
    " sessions of one process look like one"
)


class OpenCall(msgspec.Struct, gc=False):
    """A tool call that began: when by the sender's clock (UTC µs), and whether it came to run.

    `announced` is the native event of a call whose arguments are still to come, so that no event
    tells of it yet; `cwd` is the folder that it named.
    """

    tool: Tool
    began_us: int | None = None
    ran: bool = False
    announced: str = ""
    cwd: str = ""

    @property
    def named(self) -> str | None:
        """The tool's name, which stands for the command of a call that was only named."""
        return self.tool.native_name if self.announced else None


class SourceSession:
    """One session of a source, as far as its lines described it.

    `turn` is the open turn's id, `turns` how many have ended; `calls` and `asked` are the open
    calls and permission questions by their ids, which are those of `numbering`. `no_gate` says that
    it is watched without a gate on purpose, `ends` that the session is over with the stream, as
    that is all the output of its one run.
    """

    def __init__(self, agent: str, session: str, *, guessed: bool) -> None:
        self.agent = agent
        self.session = session
        self.guessed = guessed
        self.cwd = ""
        self.turn: str | None = None
        self.turns = 0
        self.seq: int | None = None
        self.calls: Recent[str, OpenCall] = Recent(MAX_OPEN_CALLS)
        self.asked: Recent[str, Tool] = Recent(MAX_OPEN_CALLS)
        self.numbering = ""
        self.no_gate = False
        self.ends = False

    def event(self, kind: Kind, native: str, body: Body, at: Instant) -> Event:
        """Returns an event of this session; nothing waits for an answer to it."""
        return Event(
            kind=kind,
            native=native,
            agent=self.agent,
            session=self.session,
            lane=Lane.OBSERVE,
            at=at,
            body=body,
            turn=self.turn,
            cwd=self.cwd,
            numbering=self.numbering,
            no_gate=self.no_gate,
        )

    def open(self, call_id: str, call: OpenCall) -> None:
        """Remembers a call until it ends; over `MAX_OPEN_CALLS` the oldest is forgotten."""
        call.tool = _bounded(call.tool)
        self.calls[call_id] = call

    def ask(self, question_id: str, tool: Tool) -> None:
        """Remembers a permission question until it is answered."""
        self.asked[question_id] = _bounded(tool)

    def end_turn(self) -> None:
        """Ends the turn, and with it whatever of it was open."""
        self.turn = None
        self.turns += 1
        self.calls.clear()
        self.asked.clear()

    def gone(self, at: Instant) -> list[Event]:
        """Returns the events of this session when its source is gone; none if nothing was open."""
        open_turn = [f"turn {self.turn}"] if self.turn else []
        left = open_turn + _counted(len(self.calls), "tool call")
        left += _counted(len(self.asked), "permission question")
        if not left:
            return []
        events = [
            self.event("tool.permission.resolved", "source.gone", ToolCall(tool), at)
            for tool in self.asked.values()
        ]
        notice = Text(f"source gone: its connection ended with {', '.join(left)} open")
        events.append(self.event("turn.interrupt", "source.gone", notice, at))
        self.end_turn()
        return events


class Source:
    """Everything known of one sender.

    `guess` stands for the session where lines name none, `peer` for the sender in a notice; `agent`
    is what a tap said that it forwards, `cwd` the folder that it runs in, `no_gate` that it has
    none on purpose; `session` the newest
    session that a line named, `seq` the newest number of a source that numbers all of its events
    together.
    """

    def __init__(self, guess: str, *, pid: int = 0) -> None:
        self.guess = guess
        self.pid = pid
        self.agent = ""
        self.cwd = ""
        self.no_gate = False
        self.session = ""
        self.seq: int | None = None
        self._sessions: Recent[tuple[str, str], SourceSession] = Recent(MAX_SESSIONS)

    def without_calls(self) -> Source:
        """Returns one that stands where this one stands, but knows none of its open calls."""
        source = Source(self.guess, pid=self.pid)
        source.agent, source.cwd, source.no_gate = self.agent, self.cwd, self.no_gate
        source.session, source.seq = self.session, self.seq
        for key, known in self._sessions.items():
            session = source._sessions[key] = SourceSession(*key, guessed=known.guessed)
            session.cwd, session.turn, session.turns, session.seq = (
                known.cwd,
                known.turn,
                known.turns,
                known.seq,
            )
            session.numbering, session.no_gate = known.numbering, known.no_gate
        return source

    @property
    def peer(self) -> str:
        """The sender's process, in words."""
        return f"pid {self.pid}"

    def open_session(
        self, agent: str, session: str, at: Instant
    ) -> tuple[SourceSession, list[Event]]:
        """Returns a session of this source, with the event that announces a new guessed one."""
        key = agent, session or self.guess
        known = self._sessions.get(key)
        if known is not None:
            return known, []
        fresh = self._sessions[key] = SourceSession(*key, guessed=not session)
        fresh.no_gate = self.no_gate
        if not fresh.guessed:
            return fresh, []
        change = SessionChange(what="guessed", detail=GUESSED)
        return fresh, [fresh.event("session.change", "session.guessed", change, at)]

    def over(self) -> list[tuple[str, str]]:
        """Returns the sessions, as agent and id, that end with this source."""
        return [(each.agent, each.session) for each in self._sessions.values() if each.ends]

    def gone(self, at: Instant) -> list[Event]:
        """Returns the events when the source's last connection ended with something open."""
        return [event for each in self._sessions.values() for event in each.gone(at)]


def _bounded(tool: Tool) -> Tool:
    """Returns the tool without an input that is long: calls may never end, and its hash stays."""
    if len(msgspec.json.encode(tool.input)) <= MAX_INPUT_BYTES:
        return tool
    return msgspec.structs.replace(tool, input={})


def _counted(count: int, what: str) -> list[str]:
    return [f"{count} {what}{'s' if count > 1 else ''}"] if count else []
