from __future__ import annotations

import anyio
import pytest

from tests.service.sinks.parts import LARGE, record, seqs
from watchgate.core.model.records import Record
from watchgate.service.sinks.record_lines import as_record
from watchgate.service.sinks.sink import SinkQueue, SinkTally


def waiting(limit: int = 100, limit_bytes: int = 1 << 20) -> tuple[SinkQueue, SinkTally]:
    tally = SinkTally("sink", "mend it")
    return SinkQueue(as_record, tally, limit=limit, limit_bytes=limit_bytes), tally


async def packed(queue: SinkQueue) -> None:
    """All that was offered has become lines."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(queue.pack)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()


async def taken(queue: SinkQueue, count: int = 100, size_bytes: int = 1 << 20) -> list[int]:
    await packed(queue)
    return seqs(b"".join(await queue.take(count, size_bytes)))


async def test_records_come_out_in_the_order_in_which_they_were_offered() -> None:
    queue, _ = waiting()
    for seq in (1, 2, 3):
        queue.offer(record(seq))
    assert await taken(queue) == [1, 2, 3]


async def test_the_oldest_is_dropped_and_counted_when_too_many_wait() -> None:
    queue, tally = waiting(limit=3)
    for seq in range(1, 11):
        queue.offer(record(seq))
    assert len(queue) == 3
    assert await taken(queue) == [8, 9, 10]
    assert tally.counters.dropped == 7


async def test_the_oldest_lines_are_dropped_when_they_are_too_large_together() -> None:
    queue, tally = waiting(limit_bytes=3 * LARGE)
    for seq in range(1, 11):
        queue.offer(record(seq, size=LARGE))
    assert await taken(queue) == [9, 10]
    assert tally.counters.dropped == 8


async def test_cw_b4_an_offer_only_puts_the_record_down_whatever_its_size() -> None:
    written: list[int] = []

    def wrap(each: Record) -> bytes:
        written.append(each.seq)
        return as_record(each)

    queue = SinkQueue(wrap, SinkTally("sink", "mend it"), limit=10)
    for seq in range(1, 1_001):
        queue.offer(record(seq, size=LARGE))
    assert written == []
    assert len(queue) == 10
    await packed(queue)
    assert written == list(range(991, 1_001))


async def test_a_batch_is_as_large_as_both_limits_allow_and_never_empty() -> None:
    queue, _ = waiting()
    for seq in range(1, 8):
        queue.offer(record(seq, size=1_000))
    assert await taken(queue, count=2) == [1, 2]
    assert await taken(queue, size_bytes=2_500) == [3, 4]
    assert await taken(queue, size_bytes=1) == [5]


async def test_what_is_given_back_is_the_oldest_again() -> None:
    queue, tally = waiting(limit=3)
    for seq in (1, 2, 3):
        queue.offer(record(seq))
    await packed(queue)
    first = await queue.take(2, 1 << 20)
    queue.offer(record(4))
    queue.give_back(first)
    assert await taken(queue) == [2, 3, 4]
    assert tally.counters.dropped == 1


async def test_once_ended_nothing_is_taken_in_and_what_waits_still_comes_out() -> None:
    queue, tally = waiting()
    queue.offer(record(1))
    queue.end()
    queue.offer(record(2))
    assert await taken(queue) == [1]
    assert await queue.take(1, 1) == []
    assert tally.counters.dropped == 1


async def test_a_reader_waits_for_the_first_line() -> None:
    queue, _ = waiting()
    with anyio.move_on_after(0) as waited:
        await queue.take(1, 1)
    assert waited.cancelled_caught


@pytest.mark.parametrize("pack", [False, True])
async def test_what_waits_can_be_thrown_away(pack: bool) -> None:
    queue, _ = waiting()
    queue.offer(record(1))
    queue.offer(record(2))
    if pack:
        await packed(queue)
    assert queue.clear() == 2
    assert len(queue) == 0
