"""The formats of other programs' event streams, told apart by the shape of a line alone.

SynapsCLI's extension protocol is a stream here: its JSON-RPC requests, one a line, only watched. An
extension that answers is `watchgate.synaps_extension`; its events come as hook frames.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from watchgate.agents.streams import codewhale_runtime, codewhale_sink, codex_exec, sandbox
from watchgate.agents.streams.line_events import (
    Fields,
    LineEvents,
    folder,
    name,
    rest,
    table,
    whole,
    word,
)
from watchgate.agents.streams.stream_source import Source
from watchgate.agents.synaps import NAME, hook_meaning
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event

SYNAPS: Final = NAME


def is_synaps(fields: Fields) -> bool:
    """Returns whether a line is a message of SynapsCLI's extension protocol."""
    return "jsonrpc" in fields


def read_synaps(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one message of SynapsCLI."""
    method, params = word(fields, "method"), table(fields, "params")
    source.session = name(params, "session_id") or source.session
    line = LineEvents(source, at, agent=SYNAPS, session=source.session)
    if method == "hook.handle":
        kind, body = hook_meaning(params)
        line.add(kind, word(params, "kind"), body)
    else:
        line.add_text("notice", method or "answer", rest(fields, ("jsonrpc", "method")))
    return line.events


class StreamFormat(msgspec.Struct, frozen=True):
    """One format: the test for its lines, and the reader of one."""

    agent: str
    fits: Callable[[Fields], bool]
    read: Callable[[Fields, Source, Instant], list[Event]]


# The envelopes that hold others come first: a universal event has a `type` of codex's names too.
STREAM_FORMATS: Final = (
    StreamFormat(sandbox.AGENT, sandbox.fits, sandbox.read),
    StreamFormat(codewhale_sink.AGENT, codewhale_runtime.fits, codewhale_runtime.read),
    StreamFormat(codewhale_sink.AGENT, codewhale_sink.fits, codewhale_sink.read),
    StreamFormat(SYNAPS, is_synaps, read_synaps),
    StreamFormat(codex_exec.AGENT, codex_exec.fits, codex_exec.read),
)
TAPPED: Final = tuple(sorted({shape.agent for shape in STREAM_FORMATS}))
"""The agents whose streams are understood."""


def read_line(fields: Fields, source: Source, at: Instant) -> list[Event] | None:
    """Returns the events of one line; None for a line of no known shape.

    Raises `DecodeError` for one that breaks its own format.
    """
    if "tap" in fields and "watchgate" in fields:
        return _tapped(fields, source, at)
    shape = next((shape for shape in STREAM_FORMATS if shape.fits(fields)), None)
    return None if shape is None else shape.read(fields, source, at)


def _tapped(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Reads a line of our own tap: the agent, its folder, and the number of lines that are missing.

    `{"watchgate":1,"tap":"codex","cwd":"/srv/app","no_gate":true,"dropped":12}`; all but the first
    two may be absent.
    """
    source.agent = name(fields, "tap")
    source.cwd = folder(fields, "cwd") or source.cwd
    source.no_gate = fields.get("no_gate") is True
    dropped = whole(fields, "dropped")
    if not dropped:
        return []
    line = LineEvents(source, at, agent=source.agent, session=source.session)
    notice = f"{dropped} lines of this stream were not recorded: they came too fast to be taken in"
    line.add_text("notice", "stream.gap", notice)
    return line.events
