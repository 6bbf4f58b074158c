"""The formats of other programs' event streams, told apart by the shape of a line alone.

SynapsCLI's extension protocol is a stream here: its JSON-RPC requests, one a line, only watched. An
extension that answers is `watchgate.synaps_extension`; its events come as hook frames.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from watchgate.agents.streams import codewhale_runtime, codewhale_sink, codex_exec, sandbox, synaps
from watchgate.agents.streams.fields import Fields, folder, name, whole
from watchgate.agents.streams.heard import Heard
from watchgate.agents.streams.source import Source
from watchgate.core.clock import Instant
from watchgate.core.events import Event


class Shape(msgspec.Struct, frozen=True):
    """One format: the test for its lines, and the reader of one."""

    agent: str
    fits: Callable[[Fields], bool]
    read: Callable[[Fields, Source, Instant], list[Event]]


# The envelopes that hold others come first: a universal event has a `type` of codex's names too.
SHAPES: Final = (
    Shape(sandbox.AGENT, sandbox.fits, sandbox.read),
    Shape(codewhale_sink.AGENT, codewhale_runtime.fits, codewhale_runtime.read),
    Shape(codewhale_sink.AGENT, codewhale_sink.fits, codewhale_sink.read),
    Shape(synaps.AGENT, synaps.fits, synaps.read),
    Shape(codex_exec.AGENT, codex_exec.fits, codex_exec.read),
)
TAPPED: Final = tuple(sorted({shape.agent for shape in SHAPES}))
"""The agents whose streams are understood."""


def read(fields: Fields, source: Source, at: Instant) -> list[Event] | None:
    """Returns the events of one line; None for a line of no known shape.

    Raises `DecodeError` for one that breaks its own format.
    """
    if "tap" in fields and "watchgate" in fields:
        return _tapped(fields, source, at)
    shape = next((shape for shape in SHAPES if shape.fits(fields)), None)
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
    line = Heard(source, at, agent=source.agent, session=source.session)
    notice = f"{dropped} lines of this stream were not recorded: they came too fast to be taken in"
    line.add_text("notice", "stream.gap", notice)
    return line.events
