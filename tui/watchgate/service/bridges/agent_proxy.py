"""A transparent proxy around one agent: every byte passes, and some requests are held.

Our standard input and output are the editor's, the agent is our child. Requests that its wire holds
are put to the core; whatever goes wrong there hands the request on as it came.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from watchgate.agents.proxied import HeldRequest, Side, Step, Wire
from watchgate.core.model.events import Lane
from watchgate.service.bridges.core_client import EventForwarder, IngestClient, Unanswered
from watchgate.service.bridges.pipes import PipeWriter, read
from watchgate.service.system.line_cutting import LineCutter
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

DRAIN_S = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


_TOO_LONG = f"longer than {MAX_PAYLOAD_BYTES} bytes"


class _LongLine:
    """A line that comes in pieces: all of them pass or none, with the sink locked for it."""

    def __init__(self, step: Step, sink: PipeWriter) -> None:
        self.step = step
        self._sink = sink
        self._locked = False

    async def part(self, data: bytes) -> None:
        """Passes one more piece on."""
        if not self.step.passes:
            return
        if not self._locked:
            await self._sink.lock.acquire()
            self._locked = True
        await self._sink.piece(data)

    def end(self) -> None:
        """Lets other lines in again."""
        if self._locked:
            self._sink.lock.release()


class Proxy:
    """The run of one agent; an operator is waited for at most `deadline_s`."""

    def __init__(self, wire: Wire, core: IngestClient, deadline_s: float) -> None:
        self._wire = wire
        self._core = core
        self._deadline_s = deadline_s
        self._teller = EventForwarder(core)
        self._asking: dict[int, anyio.CancelScope] = {}
        self._lines: dict[int, bytes] = {}

    @property
    def lost(self) -> int:
        """The number of messages that were not recorded."""
        return self._teller.lost

    async def run(self, argv: Sequence[str], source: int, sink: int) -> int:
        """Runs the agent; returns its exit code, negative for the signal that ended it.

        Raises `OSError`.
        """
        with anyio.open_signal_receiver(*_SIGNALS) as signals:
            child = _start(argv)
            if child.stdin is None or child.stdout is None:
                raise OSError("the agent has no pipes")
            self._to_agent = PipeWriter(os.dup(child.stdin.fileno()))
            out = os.dup(child.stdout.fileno())
            child.stdin.close()
            child.stdout.close()
            self._to_editor = PipeWriter(sink)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._teller.run)
                    tasks.start_soon(_hand_on, signals, child)
                    tasks.start_soon(self._from_editor, source, tasks)
                    await self._attend(child, out, tasks)
                    tasks.cancel_scope.cancel()
            finally:
                _end(child)
        return child.returncode

    async def _attend(self, child: subprocess.Popen[bytes], out: int, tasks: TaskGroup) -> None:
        over = anyio.Event()

        async def from_agent() -> None:
            await self._from_agent(out, tasks)
            over.set()

        tasks.start_soon(from_agent)
        await anyio.to_thread.run_sync(child.wait, abandon_on_cancel=True)
        # A child of the agent's may hold the pipe open for long; what is in it still passes.
        with anyio.move_on_after(DRAIN_S):
            await over.wait()
        for held, _ in self._wire.withdraw():
            self._stop_asking(held)
        for observed in self._wire.rest():
            self._teller.add(observed)
        await self._teller.caught_up()

    async def _from_editor(self, source: int, tasks: TaskGroup) -> None:
        await self._copy(source, "editor", self._to_agent, tasks)
        await self._end_held(self._wire.withdraw())
        self._to_agent.close()

    async def _from_agent(self, out: int, tasks: TaskGroup) -> None:
        await self._copy(out, "agent", self._to_editor, tasks)
        # Each side sees what the other does: that its reader left, that its writer ended.
        os.close(out)
        with suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._to_editor.descriptor)
            os.close(null)

    async def _copy(self, source: int, side: Side, sink: PipeWriter, tasks: TaskGroup) -> None:
        lines = LineCutter(MAX_PAYLOAD_BYTES)
        long: _LongLine | None = None
        while not sink.broken:
            try:
                data = await read(source)
            except OSError:
                break
            for piece in lines.feed(data) if data else lines.rest():
                if piece.whole:
                    await self._line(piece.data, side, sink, tasks)
                    continue
                if long is None:
                    long = _LongLine(self._wire.unread(piece.data, side, _TOO_LONG), sink)
                    self._record(long.step)
                    await self._tell(long.step)
                await long.part(piece.data)
                if piece.ends:
                    long.end()
                    long = None
            if not data:
                break
        if long is not None:
            long.end()

    async def _line(self, line: bytes, side: Side, sink: PipeWriter, tasks: TaskGroup) -> None:
        step = self._wire.step(line, side)
        self._record(step)
        if step.hold is not None:
            self._lines[step.hold.key] = line
            tasks.start_soon(self._ask, step.hold)
        if step.passes:
            await sink.line(line)
        await self._tell(step)

    def _record(self, step: Step) -> None:
        for observed in step.observed:
            self._teller.add(observed)

    async def _tell(self, step: Step) -> None:
        """Sends the agent the answers to a line."""
        await self._end_held(step.ended)
        for line in step.agent_lines:
            await self._to_agent.line(line)

    async def _ask(self, held: HeldRequest) -> None:
        if held.key not in self._lines:
            return  # it ended before this task began: nobody is to be asked any more
        with anyio.CancelScope() as scope:
            self._asking[held.key] = scope
            answer = b""
            await self._teller.caught_up()
            with suppress(Unanswered):
                answer = await self._core.ask(held.observed, Lane.RELAY, self._deadline_s)
        self._asking.pop(held.key, None)
        line = self._lines.pop(held.key, b"")
        if scope.cancelled_caught:
            return
        line_back = self._wire.settle(held, answer)
        if line_back is None:
            await self._to_editor.line(line)
        elif line_back:
            await self._to_agent.line(line_back)

    async def _end_held(self, ended: tuple[tuple[HeldRequest, bytes], ...]) -> None:
        for held, line in ended:
            self._stop_asking(held)
            if line:
                await self._to_agent.line(line)

    def _stop_asking(self, held: HeldRequest) -> None:
        """Hangs up at the core, which withdraws the request there."""
        self._lines.pop(held.key, None)
        if (scope := self._asking.get(held.key)) is not None:
            scope.cancel()


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts the agent in a group of its own, so that a signal reaches it once and through us."""
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)


async def _hand_on(signals: AsyncIterator[signal.Signals], child: subprocess.Popen[bytes]) -> None:
    async for number in signals:
        with suppress(OSError):
            os.killpg(child.pid, number)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends an agent that still runs, with all that is in its group."""
    if child.poll() is None:
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
