"""The slow work on a large text, done in a thread before the event loop takes the text.

Its secrets are looked for, and its call is judged. The loop finds the results by the texts, and
does the rest itself.

- Reading of large frames and lines in threads: nobody else waits, and each agent's order stays.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio
import msgspec
from anyio import to_thread

from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Instant
from watchgate.core.base.patterns.allowance import one_text, pausing
from watchgate.core.gate.call_tracker import summarized
from watchgate.core.gate.record_builders import call_line
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event
from watchgate.core.model.large_inputs import IN
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.secrets.redact import Content, journal_json, redact, redact_all
from watchgate.core.secrets.secret_finder import SecretsByText, remembering
from watchgate.core.tools.tool_input import command
from watchgate.service.wire.ingest_lines import OURS, decode_chunk

T = TypeVar("T")

THREADS: Final = 2
WORK_NS: Final = 1_000_000
"""Processor time of a thread after which it pauses for `PAUSE_S`."""

PAUSE_S: Final = 0.002


class LargeFrames:
    """The turns of large frames and of later ones from the same asking process."""

    def __init__(self, asker_of: Callable[[int], Hashable]) -> None:
        self._asker_of = asker_of
        self._last: dict[Hashable, anyio.Event] = {}
        self._threads: anyio.CapacityLimiter | None = None

    @asynccontextmanager
    async def turn(self, pid: int, *, large: bool) -> AsyncIterator[None]:
        """Enters once every frame is taken that the same asker sent before a large one."""
        if not large and not self._last:
            yield
            return
        asker = self._asker_of(pid)
        key = pid if asker is None else asker
        before = self._last.get(key)
        if not large and before is None:
            yield
            return
        mine = self._last[key] = anyio.Event()
        try:
            if before is not None:
                await before.wait()
            yield
        finally:
            mine.set()
            if self._last.get(key) is mine:
                del self._last[key]

    async def read(self, read: Callable[[], T]) -> T:
        """Returns the result of reading one large frame or line, in a thread that pauses."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)

        def run() -> T:
            with pausing(_Pauses()):
                return read()

        return await to_thread.run_sync(run, limiter=self._threads)


class _Pauses:
    """Pauses of a thread, without which the loop would wait at each of its system calls."""

    def __init__(self) -> None:
        self._due_ns: int | None = None

    def __call__(self, now_ns: int) -> None:
        if self._due_ns is None or now_ns >= self._due_ns:
            time.sleep(PAUSE_S)
            self._due_ns = now_ns + WORK_NS


LARGE_BYTES = 8 * 1024
"""Frames and lines longer than this are looked at in a thread."""

LARGE_ASKED_BYTES = 2 * 1024
"""The same of those whose sender waits for an answer: a command of this length can be a script."""

Judge = Callable[[], Assessment | None]


class Prepared(msgspec.Struct, frozen=True):
    """Events that were read ahead, or why there are none (`fault`), and the secrets of texts."""

    events: tuple[Event, ...] = ()
    fault: str = ""
    secrets: SecretsByText = {}


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


def looked_through(events: Sequence[Event]) -> SecretsByText:
    """Returns the secrets of the events' own texts; the shell's parser keeps its own results."""
    secrets: SecretsByText = {}
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
    judged: Sequence[tuple[Event, Judge]], secrets: SecretsByText, content: Content
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
