"""The payloads of OpenCode, in either of their two forms, with what our forwarders add.

A plugin hook is `{"hook", "input", "output"}`, an event of the bus `{"id", "type", "properties"}`.
Our plugin and our stream client see what a single payload leaves out, and add it under `watchgate`.
Wire format: OpenCode 1.18, its plugin types and the OpenAPI document that its server shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from watchgate.agents.base import DecodeError, Intake
from watchgate.core import decoding
from watchgate.core.events import Folder, Name, Sub
from watchgate.core.json_faults import JSON_FAULTS

NO_SESSION: Final = "no session named"
Fields = Mapping[str, Any]


class Known(msgspec.Struct, frozen=True, omit_defaults=True):
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
    known: Known
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
    watchgate: Known = Known()


_DECODER = decoding.decoder(_Raw)
_SESSION = Annotated[str, msgspec.Meta(max_length=512)]


def read(payload: bytes, intake: Intake) -> Payload:
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
