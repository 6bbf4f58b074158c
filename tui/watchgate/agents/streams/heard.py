"""One line of a source while it is read: it becomes events of its session, in order."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.hooks.payload import text
from watchgate.agents.hooks.tools import Classes, describe
from watchgate.agents.streams.fields import NAME_CHARS
from watchgate.agents.streams.source import OpenCall, Seen, Source
from watchgate.core.clock import Instant
from watchgate.core.events import Body, Kind, SessionChange, Text, Tool, ToolCall, ToolResult

_SHOWN_AS = {"shell": "Bash", "edit": "Edit"}


def tool_of(name: str, args: dict[str, Any], call_id: str | None, classes: Classes) -> Tool:
    """The canonical tool of a call; a shell and an editor have one name, whatever agent they are.

    So a rule about a shell's command holds for all of them.
    """
    tool = describe(name[:NAME_CHARS] or "unnamed", args, call_id, classes)
    shown = _SHOWN_AS.get(tool.cls)
    return tool if shown is None else msgspec.structs.replace(tool, name=shown)


class Heard:
    """What a decoder writes its events to; `said_us` is when by the sender's clock (UTC µs)."""

    def __init__(
        self,
        source: Source,
        at: Instant,
        *,
        agent: str,
        session: str = "",
        said_us: int | None = None,
    ) -> None:
        self.source = source
        self.at = at
        self.said_us = said_us
        self.seen: Seen
        self.seen, self.events = source.seen(agent, session, at)

    def say(self, kind: Kind, native: str, body: Body, *, cwd: str = "") -> None:
        """Add an event; `cwd` is that of this event where it names one."""
        event = self.seen.event(kind, native, body, self.at)
        self.events.append(msgspec.structs.replace(event, cwd=cwd) if cwd else event)

    def words(self, kind: Kind, native: str, said: Any = "") -> None:
        """Add an event that is a text; anything else is shown as JSON, bounded."""
        self.say(kind, native, Text(text(said)))

    def changed(self, kind: Kind, native: str, what: str, detail: str = "") -> None:
        """Add a change of the session."""
        self.say(kind, native, SessionChange(what=what, detail=detail))

    def begin(self, native: str, tool: Tool, *, cwd: str = "", ran: bool = False) -> None:
        """Add a call that is about to run."""
        if tool.call_id:
            self.seen.open(tool.call_id, OpenCall(tool, self.said_us, ran))
        self.say("tool.pre", native, ToolCall(tool), cwd=cwd)

    def announce(self, native: str, tool: Tool, *, cwd: str = "") -> None:
        """Add that a call was named; it begins with its arguments, or with what follows on it."""
        if not tool.call_id:
            self.begin(native, tool, cwd=cwd)
            return
        self.seen.open(tool.call_id, OpenCall(tool, self.said_us, announced=native, cwd=cwd))
        self.words("notice", native, tool.native_name)

    def begin_announced(self, call: OpenCall | None, tool: Tool | None = None) -> None:
        """Add the begin of a call that was only named so far, with its arguments if they came."""
        if call is None or not call.announced:
            return
        native, call.announced = call.announced, ""
        if tool is not None and tool.call_id:
            call.tool = tool
            self.seen.open(tool.call_id, call)
        self.say("tool.pre", native, ToolCall(tool or call.tool), cwd=call.cwd)

    def end(
        self, native: str, tool: Tool, *, ok: bool, said: Any = "", exit_code: int | None = None
    ) -> None:
        """Add the end of a call that ran; its input is the one that it began with, if it is open.

        How long it took is told by the sender's own clock, where it has one.
        """
        call = self.seen.calls.pop(tool.call_id or "", None)
        took_ms = None
        if call is not None:
            self.begin_announced(call)
            tool = call.tool
            if call.began_us is not None and self.said_us is not None:
                took_ms = max(0, self.said_us - call.began_us) // 1000
        kind: Kind = "tool.post" if ok else "tool.error"
        result = ToolResult(tool, ok=ok, text=text(said), took_ms=took_ms, exit_code=exit_code)
        self.say(kind, native, result)

    def refuse(self, native: str, tool: Tool) -> None:
        """Add that a call was not run, by the agent's own decision."""
        call = self.seen.calls.pop(tool.call_id or "", None)
        self.begin_announced(call)
        self.say("tool.permission.resolved", native, ToolCall(call.tool if call else tool))

    def ask(self, native: str, question_id: str, tool: Tool, *, cwd: str = "") -> None:
        """Add that the agent asks for permission; it cannot be answered here."""
        if question_id:
            self.seen.ask(question_id, tool)
        self.say("tool.permission", native, ToolCall(tool), cwd=cwd)

    def running(self, command: object) -> Tool | None:
        """The newest open call of this very command: questions name no call that can be joined."""
        calls = reversed(list(self.seen.calls.values()))
        same = (call for call in calls if command in (call.tool.input.get("command"), call.named))
        found = next(same, None) if command else None
        self.begin_announced(found)
        return found.tool if found else None

    def gap(self, first: int, last: int) -> None:
        """Add that numbered events of the source never came."""
        many = "event" if first == last else "events"
        numbers = f"{first}" if first == last else f"{first} to {last}"
        said = f"{last - first + 1} {many} of this source never came: {numbers}"
        self.words("notice", "stream.gap", said)
