"""The slow work on a large text, done in a thread before the event loop takes the text.

Its secrets are looked for, and its call is judged. The loop finds the results by the texts, and
does the rest itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watchgate.agents.streams.source import Source
from watchgate.core.calls import summarized
from watchgate.core.clock import Instant
from watchgate.core.drafts import call_line
from watchgate.core.events import Event
from watchgate.core.large_inputs.reference import IN
from watchgate.core.patterns.allowance import one_text
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.tool_commands import commands_of
from watchgate.core.redact import Content, journal_json, redact, redact_all
from watchgate.core.secrets.finding import Found, remembering
from watchgate.core.tool_input import command
from watchgate.service.lines import OURS, decode_chunk

LARGE_BYTES = 8 * 1024
"""Frames and lines longer than this are looked at in a thread."""

LARGE_ASKED_BYTES = 2 * 1024
"""The same of those whose sender waits for an answer: a command of this length can be a script."""

Judge = Callable[[], Assessment | None]


class Prepared(msgspec.Struct, frozen=True):
    """Events that were read ahead, or why there are none (`fault`), and the secrets of texts."""

    events: tuple[Event, ...] = ()
    fault: str = ""
    secrets: Found = {}


def has_large_line(piece: bytes) -> bool:
    """Returns whether one of these lines is large; only those of our own form can ask."""
    large_bytes = LARGE_ASKED_BYTES if piece.startswith(OURS) else LARGE_BYTES
    start = 0
    while len(piece) - start > large_bytes:
        # The last line that ends within so many bytes: the next one begins behind it.
        end = piece.rfind(b"\n", start, start + large_bytes + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def looked_through(events: Sequence[Event]) -> Found:
    """Returns the secrets of the events' own texts; the shell's parser keeps its own results."""
    secrets: Found = {}
    for event in events:
        with one_text(), remembering(secrets):
            if event.tool is not None:
                redact_all(event.tool.input)
            redact(event.raw)
        if event.tool is not None and event.tool.cls == "shell":
            commands_of(event.tool, command(event.tool) or "")
    return secrets


def lines_prepared(chunk: bytes, at: Instant, source: Source) -> Prepared:
    """Returns the events of whole lines, from a `source` of their own; for any thread."""
    events = tuple(event for event, _ in decode_chunk(chunk, at, source))
    return Prepared(events, secrets=looked_through(events))


def judge_all(
    judged: Sequence[tuple[Event, Judge]], secrets: Found, content: Content
) -> Callable[[], None]:
    """Returns a call that judges calls and looks through their records' texts.

    It may run in any thread.
    """

    def run() -> None:
        with remembering(secrets):
            for event, judge in judged:
                if (assessment := judge()) is not None:
                    _look_through_records(event, assessment, content)

    return run


def _look_through_records(event: Event, assessment: Assessment, content: Content) -> None:
    """Looks through the texts of a call's record and of its request's."""
    tool = event.tool
    if tool is None:
        return
    line, call = summarized(None, event, tool), msgspec.to_builtins(tool)
    journal_json({"tool": call, "summary": call_line(line)}, content)
    held = msgspec.to_builtins(assessment)
    parts = {key: held[key] for key in ("findings", "segments") if key in held}
    request = {"tool": {**call, "input": {}, IN: 0}, "summary": line, **parts}
    journal_json(request, content)
