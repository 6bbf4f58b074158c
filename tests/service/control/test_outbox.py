from __future__ import annotations

import anyio
import msgspec

from watchgate.core.model.records import Record
from watchgate.link.protocol import Push
from watchgate.service.control.caller import Outbox


def _record(seq: int, kind: str = "tool.post", size: int = 0) -> Record:
    return Record(v=1, seq=seq, core="c", at=0, kind=kind, data={"text": "x" * size})


def _pushes(data: bytes) -> list[Push]:
    return [msgspec.json.decode(line, type=Push) for line in data.splitlines()]


async def test_records_arrive_in_order() -> None:
    outbox = Outbox()
    for seq in (1, 2, 3):
        outbox.offer(_record(seq))
    got = [push.record.seq for push in _pushes(await outbox.take()) if push.record]
    assert got == [1, 2, 3]


async def test_a_slow_console_gets_a_gap_for_observations_and_every_approval() -> None:
    outbox = Outbox(limit_bytes=500)
    outbox.offer(_record(1, size=600))
    outbox.offer(_record(2))
    outbox.offer(_record(3))
    outbox.offer(_record(4, kind="approval.requested"))
    outbox.offer(_record(5))
    pushes = _pushes(await outbox.take())
    assert [push.record.seq if push.record else push.gap for push in pushes] == [
        1,
        (2, 3),
        4,
        (5, 5),
    ]


async def test_there_is_room_for_answers_once_the_backlog_was_read_or_nobody_reads_any_more() -> (
    None
):
    outbox = Outbox(limit_bytes=500)
    outbox.put(b"x" * 500)
    with anyio.move_on_after(0) as waited:
        await outbox.room()
    assert waited.cancelled_caught
    await outbox.take()
    assert await outbox.room()
    outbox.put(b"x" * 500)
    outbox.end()
    assert not await outbox.room()


async def test_after_the_backlog_was_read_records_flow_again() -> None:
    outbox = Outbox(limit_bytes=500)
    outbox.offer(_record(1, size=600))
    await outbox.take()
    outbox.offer(_record(2))
    assert [push.record.seq for push in _pushes(await outbox.take()) if push.record] == [2]
