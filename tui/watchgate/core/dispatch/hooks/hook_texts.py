"""Texts and values to and from a hook command: bounded, and never a reason to fail.

- Parts of an event that several hook protocols send.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, SessionChange, Text, ToolResult, Unknown
from watchgate.core.model.verdicts import Failed


def event_text(event: Event) -> str:
    """Returns the event's text: a prompt, a message, a result, or how the session changed."""
    match event.body:
        case Text(text=text) | Unknown(text=text) | ToolResult(text=text):
            return text
        case SessionChange(what=what, detail=detail):
            return f"{what}: {detail}" if what and detail else what or detail
        case _:
            return ""


def tool_name(event: Event) -> str:
    """Returns the agent's own name of the tool."""
    return event.tool.native_name if event.tool else ""


def tool_input(event: Event) -> dict[str, Any]:
    """Returns all of the tool call's input."""
    return event.tool.input if event.tool else {}


def transcript_path(event: Event) -> str | None:
    """Returns the path of the session's transcript, where the event says so; else None."""
    return event.body.transcript if isinstance(event.body, SessionChange) else None


def model_name(event: Event) -> str | None:
    """Returns the model, where the event names it; else None."""
    return event.body.model if isinstance(event.body, SessionChange) else None


MIB: Final = 1 << 20
OUTPUT_CHARS: Final = 2_000
ENV_VALUE_BYTES: Final = 16_384
_CUT: Final = " … [cut]"


def output_text(words: bytes | str) -> str:
    """Returns a command's text, without blanks around it and at most 2,000 characters long."""
    text = words.decode("utf-8", "backslashreplace") if isinstance(words, bytes) else words
    return clipped(text.strip(), OUTPUT_CHARS)


def clipped(text: str, chars: int) -> str:
    """Returns the text, or its beginning with a mark that there was more."""
    return text if len(text) <= chars else text[:chars] + _CUT


def text_field(value: Any) -> str:
    """Returns a text out of an answer; whatever is not a text counts as none."""
    return output_text(value) if isinstance(value, str) else ""


def model_text(value: Any) -> str:
    """Returns an answer's text for the model; the dispatch policy bounds it."""
    return value.strip() if isinstance(value, str) else ""


def compact_json(value: Any) -> str:
    """Returns a value as compact JSON text."""
    return msgspec.json.encode(value).decode()


def utc_seconds(at: Instant) -> str:
    """Returns the time in RFC 3339, UTC, whole seconds, with `Z`."""
    return datetime.fromtimestamp(at.wall_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def environment(
    values: Mapping[str, str | None], limit_bytes: int = ENV_VALUE_BYTES
) -> dict[str, str]:
    """Returns variables that a process can be started with; an unset value has none.

    What none should carry is left out, and a variable `NAME_OMITTED` says why: a NUL byte, half a
    surrogate pair, or more than `limit_bytes` (one variable of 128 KiB fails the start altogether).
    """
    env: dict[str, str] = {}
    for name, value in values.items():
        if value is None:
            continue
        why = why_unfit(value, limit_bytes)
        env[f"{name}_OMITTED" if why else name] = why or value
    return env


def json_answer(stdout: str) -> dict[str, Any] | Failed:
    """Reads the JSON object that a command printed; a `Failed` where it is none."""
    try:
        decoded = msgspec.json.decode(stdout)
    except (msgspec.DecodeError, RecursionError) as error:
        return Failed("parse", f"its stdout is not JSON: {output_text(str(error))}")
    if not isinstance(decoded, dict):
        return Failed("parse", "its stdout is JSON, but not an object")
    return decoded


def why_unfit(value: str, limit_bytes: int = ENV_VALUE_BYTES) -> str:
    """Returns the reason a variable cannot have this value; empty when it can."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "not valid Unicode"
    if "\0" in value:
        return "contains a NUL byte"
    return f"{size} bytes, more than {limit_bytes}" if size > limit_bytes else ""
