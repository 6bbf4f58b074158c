"""One line of a stream while it is read: its fields, and the events that it becomes.

Fields may be of any version of their writer: what is not there is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from watchgate.agents.base import DecodeError
from watchgate.agents.hooks.event_bodies import Classes, describe_tool, text
from watchgate.agents.streams.stream_source import OpenCall, Source, SourceSession
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Body, Kind, SessionChange, Text, Tool, ToolCall, ToolResult

Fields = Mapping[str, Any]

NAME_CHARS = 512
FOLDER_CHARS = 8_192
_NOTHING: dict[str, Any] = {}


def word(fields: Fields, *keys: str) -> str:
    """Returns the first of these fields that is a text with something in it."""
    texts = (value for key in keys if isinstance(value := fields.get(key), str) and value)
    return next(texts, "")


def name(fields: Fields, *keys: str) -> str:
    """Returns a text that identifies something; raises `DecodeError` when it is too long."""
    identifier = word(fields, *keys)
    if len(identifier) > NAME_CHARS:
        raise DecodeError(f"{' or '.join(keys)} has over {NAME_CHARS} characters")
    return identifier


def folder(fields: Fields, *keys: str) -> str:
    """Returns a path; raises `DecodeError` for one that no system has."""
    path = word(fields, *keys)
    if len(path) > FOLDER_CHARS:
        raise DecodeError(f"{' or '.join(keys)} has over {FOLDER_CHARS} characters")
    return path


def whole(fields: Fields, key: str) -> int | None:
    """Returns a whole number; None for anything else, also for a boolean."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def table(fields: Fields, key: str) -> dict[str, Any]:
    """Returns an object; an empty one for anything else."""
    value = fields.get(key)
    return value if isinstance(value, dict) else _NOTHING


def rest(fields: Fields, but: Collection[str] = ()) -> str:
    """Returns all fields but these as bounded JSON, "" when none is left: what nobody described."""
    left = {key: value for key, value in fields.items() if key not in but}
    return text(left) if left else ""


_SHOWN_AS = {"shell": "Bash", "edit": "Edit"}


def tool_of(name: str, args: dict[str, Any], call_id: str | None, classes: Classes) -> Tool:
    """Returns the canonical tool of a call; shells and editors of all agents have one name.

    So a rule about a shell's command holds for all of them.
    """
    tool = describe_tool(name[:NAME_CHARS] or "unnamed", args, call_id, classes)
    shown = _SHOWN_AS.get(tool.cls)
    return tool if shown is None else msgspec.structs.replace(tool, name=shown)


class LineEvents:
    """The events of one line, as they are added.

    Args:
        source: the sender of the line.
        at: when the line came.
        agent: the agent that the line is of.
        session: its session, empty where the line names none.
        sent_us: its time by the sender's clock (UTC µs), if it has one.
    """

    def __init__(
        self,
        source: Source,
        at: Instant,
        *,
        agent: str,
        session: str = "",
        sent_us: int | None = None,
    ) -> None:
        self.source = source
        self.at = at
        self.sent_us = sent_us
        self.session: SourceSession
        self.session, self.events = source.open_session(agent, session, at)

    def add(self, kind: Kind, native: str, body: Body, *, cwd: str = "") -> None:
        """Adds an event; `cwd` is that of this event where it names one."""
        event = self.session.event(kind, native, body, self.at)
        self.events.append(msgspec.structs.replace(event, cwd=cwd) if cwd else event)

    def add_text(self, kind: Kind, native: str, content: Any = "") -> None:
        """Adds an event that is a text; anything else is shown as JSON, bounded."""
        self.add(kind, native, Text(text(content)))

    def add_change(self, kind: Kind, native: str, what: str, detail: str = "") -> None:
        """Adds a change of the session."""
        self.add(kind, native, SessionChange(what=what, detail=detail))

    def begin_call(self, native: str, tool: Tool, *, cwd: str = "", ran: bool = False) -> None:
        """Adds a call that is about to run."""
        if tool.call_id:
            self.session.open(tool.call_id, OpenCall(tool, self.sent_us, ran))
        self.add("tool.pre", native, ToolCall(tool), cwd=cwd)

    def announce_call(self, native: str, tool: Tool, *, cwd: str = "") -> None:
        """Adds that a call was named; it begins with its arguments, or with what follows on it."""
        if not tool.call_id:
            self.begin_call(native, tool, cwd=cwd)
            return
        self.session.open(tool.call_id, OpenCall(tool, self.sent_us, announced=native, cwd=cwd))
        self.add_text("notice", native, tool.native_name)

    def begin_announced(self, call: OpenCall | None, tool: Tool | None = None) -> None:
        """Adds the begin of a call that was only named so far, with its arguments if they came."""
        if call is None or not call.announced:
            return
        native, call.announced = call.announced, ""
        if tool is not None and tool.call_id:
            call.tool = tool
            self.session.open(tool.call_id, call)
        self.add("tool.pre", native, ToolCall(tool or call.tool), cwd=call.cwd)

    def end_call(
        self, native: str, tool: Tool, *, ok: bool, output: Any = "", exit_code: int | None = None
    ) -> None:
        """Adds the end of a call that ran; its input is the one that it began with, if it is open.

        Args:
            native: the sender's name of the event.
            tool: the tool, by whose call id the begin is looked up.
            ok: whether the call succeeded.
            output: the result; anything but a text is shown as JSON.
            exit_code: the exit status of a shell, if it has one.
        """
        call = self.session.calls.pop(tool.call_id or "", None)
        took_ms = None
        if call is not None:
            self.begin_announced(call)
            tool = call.tool
            if call.began_us is not None and self.sent_us is not None:
                took_ms = max(0, self.sent_us - call.began_us) // 1000
        kind: Kind = "tool.post" if ok else "tool.error"
        result = ToolResult(tool, ok=ok, text=text(output), took_ms=took_ms, exit_code=exit_code)
        self.add(kind, native, result)

    def refuse_call(self, native: str, tool: Tool) -> None:
        """Adds that a call was not run, by the agent's own decision."""
        call = self.session.calls.pop(tool.call_id or "", None)
        self.begin_announced(call)
        self.add("tool.permission.resolved", native, ToolCall(call.tool if call else tool))

    def ask_permission(self, native: str, question_id: str, tool: Tool, *, cwd: str = "") -> None:
        """Adds that the agent asks for permission; it cannot be answered here."""
        if question_id:
            self.session.ask(question_id, tool)
        self.add("tool.permission", native, ToolCall(tool), cwd=cwd)

    def find_open_call(self, command: object) -> Tool | None:
        """Returns the newest open call of this very command: questions name no call."""
        calls = reversed(list(self.session.calls.values()))
        same = (call for call in calls if command in (call.tool.input.get("command"), call.named))
        newest = next(same, None) if command else None
        self.begin_announced(newest)
        return newest.tool if newest else None

    def add_gap(self, first: int, last: int) -> None:
        """Adds that numbered events of the source never came."""
        many = "event" if first == last else "events"
        numbers = f"{first}" if first == last else f"{first} to {last}"
        notice = f"{last - first + 1} {many} of this source never came: {numbers}"
        self.add_text("notice", "stream.gap", notice)
