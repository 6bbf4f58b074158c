from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import anyio
import pytest

from tests.service.sinks.parts import LARGE, lines, record, running, seqs, sink
from tests.service.wire_frames import WAIT_S
from watchgate.service.sinks import sink as module
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.sink_types import Stdout


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


async def test_lines_are_printed_as_they_come(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    await Stdout(writer).send(lines(3))
    assert seqs(os.read(reader, 1 << 16)) == [1, 2, 3]


async def test_a_reader_that_is_gone_is_told_and_ends_nothing(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.close(reader)
    with pytest.raises(Undelivered) as fault:
        await Stdout(writer).send(lines(1))
    assert (fault.value.why, fault.value.then) == ("stdout: Broken pipe", "drop-all")


async def test_cw_b4_a_reader_that_never_reads_delays_nobody(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    reader, writer = pipe
    each = sink(Stdout(writer), queue=5)
    async with running(each):
        for seq in range(50):
            each.offer(record(seq, size=LARGE))
        await anyio.wait_all_tasks_blocked()
        assert each.counters.dropped >= 40
    assert each.counters.lost == 50
    os.close(reader)


UNREAD = """
import anyio, sys
from tests.service.sinks.parts import lines
from watchgate.service.sinks.sink_types import Stdout

async def main():
    with anyio.move_on_after(0.05):
        await Stdout().send(lines(1) * 10_000)
    print("ended", file=sys.stderr)

anyio.run(main)
"""


def test_a_pipe_that_nobody_reads_keeps_no_stopped_core_alive() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", UNREAD], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as core:
        assert core.stderr is not None
        try:
            assert core.wait(WAIT_S) == 0
            assert core.stderr.read() == b"ended\n"
        finally:
            core.kill()
