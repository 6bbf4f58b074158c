"""The payloads of OpenCode, in either of their two forms, with what our forwarders add.

A plugin hook is `{"hook", "input", "output"}`, an event of the bus `{"id", "type", "properties"}`.
Our plugin and our stream client see what a single payload leaves out, and add it under `watchgate`.
Wire format: OpenCode 1.18, its plugin types and the OpenAPI document that its server shows.

- OpenCode's tools, and the call that a permission or a question of OpenCode is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from watchgate.agents.base import DecodeError, Intake
from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Choice, Folder, Name, Question, Sub, Tool, ToolClass

NO_SESSION: Final = "no session named"
Fields = Mapping[str, Any]


class ForwarderContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts that a forwarder adds to a payload.

    `parent` is the session at the top of a sub-agent's line, `agent` the sub-agent's type; `tool`
    and `input` are the call that a permission, question or error is about; `text` a prompt's words.
    `refused` says that the call never ran, `headless` that nobody sits in front of OpenCode;
    `cost_usd` is the cost of the session and of its sub-agents so far.
    """

    directory: Folder = ""
    parent: Name = ""
    agent: Name = ""
    call_id: Name = ""
    tool: Name = ""
    input: dict[str, Any] | None = None
    text: str = ""
    refused: bool = False
    headless: bool = False
    took_ms: int | None = None
    cost_usd: float | None = None


class Payload(msgspec.Struct, frozen=True):
    """One payload: its `name`, the fields of a bus event, or those of a hook."""

    name: str
    session: str
    known: ForwarderContext
    properties: dict[str, Any] = {}
    input: dict[str, Any] = {}
    output: dict[str, Any] = {}
    directory: str = ""

    @property
    def info(self) -> Fields:
        """The session or message that a bus event is about."""
        return mapping(self.properties.get("info"))

    @property
    def part(self) -> Fields:
        """The part of a message that a bus event is about."""
        return mapping(self.properties.get("part"))

    @property
    def parent(self) -> str:
        """The session that this one is a sub-agent of; empty for a session of its own."""
        named = self.info.get("parentID") if self.name.startswith("session.") else None
        return self.known.parent or (named if isinstance(named, str) else "")

    @property
    def sub(self) -> Sub | None:
        """The sub-agent that the payload belongs to."""
        if not self.parent:
            return None
        agent = self.known.agent or self.info.get("agent")
        return Sub(self.session, agent if isinstance(agent, str) else "")

    @property
    def cwd(self) -> str:
        """The folder that it is about, where anything names one."""
        named = (
            self.known.directory,
            self.directory,
            self.info.get("directory"),
            mapping(self.info.get("path")).get("cwd"),
        )
        return next((each for each in named if isinstance(each, str) and each), "")


class _Raw(msgspec.Struct, frozen=True):
    type: Name = ""
    hook: Name = ""
    hook_event_name: Name = ""
    properties: dict[str, Any] = {}
    input: dict[str, Any] = {}
    output: dict[str, Any] | None = None
    directory: Folder = ""
    watchgate: ForwarderContext = ForwarderContext()


_DECODER = decoding.decoder(_Raw)
_SESSION = Annotated[str, msgspec.Meta(max_length=512)]


def read_payload(payload: bytes, intake: Intake) -> Payload:
    """Returns the payload in its parts; raises `DecodeError`."""
    try:
        raw = _DECODER.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not an event of OpenCode: {error}") from error
    name = raw.type or raw.hook or raw.hook_event_name or intake.native
    if not name:
        raise DecodeError("the payload does not name its event (type or hook)")
    return Payload(
        name=name.removeprefix("event:"),
        session=_session(raw),
        known=raw.watchgate,
        properties=raw.properties,
        input=raw.input,
        output=raw.output or {},
        directory=raw.directory,
    )


def mapping(value: Any) -> Fields:
    """Returns the value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def string(fields: Fields, key: str) -> str:
    """Returns the string under a key, else an empty one."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _session(raw: _Raw) -> str:
    """Returns the session; the server's own events belong to none, and are shown all the same."""
    props = raw.properties
    places = (props, mapping(props.get("info")), mapping(props.get("part")), raw.input)
    session_id = next((name for each in places if (name := string(each, "sessionID"))), "")
    if not session_id and raw.type.startswith("session."):
        session_id = string(mapping(props.get("info")), "id")
    try:
        return decoding.convert(session_id or NO_SESSION, _SESSION)
    except msgspec.ValidationError as error:
        raise DecodeError(f"sessionID: {error}") from error


CLASSES: Final[dict[str, ToolClass]] = {
    "bash": "shell",
    "read": "read",
    "grep": "read",
    "glob": "read",
    "list": "read",
    "lsp": "read",
    "write": "edit",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "webfetch": "fetch",
    "websearch": "fetch",
    "codesearch": "fetch",
    "task": "agent",
    "question": "question",
}
"""MCP tools go by `<server>_<tool>`, which nothing tells from a plugin's own: they are `other`."""

TOOL_NAMES: Final = {
    "bash": "Bash",
    "read": "Read",
    "grep": "Grep",
    "glob": "Glob",
    "list": "LS",
    "write": "Write",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "patch": "Edit",
    "apply_patch": "Edit",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "task": "Task",
}
READS: Final = tuple(name for name, cls in CLASSES.items() if cls == "read")
QUESTION_TOOL: Final = "question"


def describe_call(name: str, args: Fields, call_id: str) -> Tool:
    """Returns the canonical tool of a call, by the name that every rule knows it by."""
    described = describe_tool(name, dict(args), call_id or None, CLASSES)
    shown = TOOL_NAMES.get(name)
    return described if shown is None else msgspec.structs.replace(described, name=shown)


def asked_call(payload: Payload) -> Tool:
    """Returns the call that `permission.asked` is about.

    The event itself gives only what OpenCode shows: a command, or a diff. Where a forwarder knows
    the call, its own input stands, so that both lanes of the call are about the same thing.
    """
    props, known = payload.properties, payload.known
    call_id = string(mapping(props.get("tool")), "callID")
    if known.tool and known.input is not None:
        return describe_call(known.tool, known.input, call_id)
    name, args = string(props, "permission"), dict(mapping(props.get("metadata")))
    patterns = [each for each in _list(props.get("patterns")) if isinstance(each, str)]
    if name == "bash" and "command" not in args and patterns:
        # One for each command of the line: what is judged must be all of them.
        args["command"] = "\n".join(patterns)
    if name not in CLASSES and isinstance(args.get("command"), str):
        # A command that would leave the project asks under another name.
        name = "bash"
    return describe_call(name or "permission", args or {"patterns": patterns}, call_id)


def resolved_call(known: ForwarderContext) -> Tool | None:
    """Returns the call that a forwarder says was allowed or refused, where it knows which one."""
    if not known.tool or known.input is None:
        return None
    return describe_call(known.tool, known.input, known.call_id)


def question_call(payload: Payload) -> tuple[Tool, tuple[Question, ...]]:
    """Returns the call of the question tool, and what it asks a person."""
    props = payload.properties
    listed = _list(props.get("questions"))
    call_id = string(mapping(props.get("tool")), "callID")
    asks = tuple(_question(each) for each in listed if isinstance(each, dict))
    return describe_call(QUESTION_TOOL, {"questions": listed}, call_id), asks


def _question(fields: Fields) -> Question:
    return Question(
        text=string(fields, "question"),
        header=string(fields, "header"),
        choices=tuple(
            Choice(label=string(each, "label"), description=string(each, "description"))
            for each in _list(fields.get("options"))
            if isinstance(each, dict) and string(each, "label")
        ),
        multiple=fields.get("multiple") is True,
        free_text=fields.get("custom") is not False,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
