from __future__ import annotations

import anyio
import pytest

from tests.service.sinks.parts import LARGE, Noted, Stuck, got, lost, record, running, sink
from tests.service.wire_frames import WAIT_S, until
from watchgate.core.model.records import Record
from watchgate.service.sinks import sink as module
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.record_lines import as_record
from watchgate.service.sinks.sink import Sink, Sinks


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.001)
    monkeypatch.setattr(module, "PAUSE_MAX_S", 0.002)


def offer(each: Sink | Sinks, count: int, *, first: int = 1, size: int = 0) -> None:
    for seq in range(first, first + count):
        each.offer(record(seq, size=size))


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (("*",), {"tool.pre", "tool.post", "tools.x", "notice"}),
        (("tool.*",), {"tool.pre", "tool.post"}),
        (("tool.post", "notice"), {"tool.post", "notice"}),
    ],
)
async def test_a_sink_gets_the_kinds_and_families_that_it_names(
    kinds: tuple[str, ...], wanted: set[str]
) -> None:
    delivery = Noted()
    each = sink(delivery, *kinds)
    async with running(each):
        for seq, kind in enumerate(("tool.pre", "tool.post", "tools.x", "notice")):
            each.offer(record(seq, kind=kind))
    assert len(delivery.got) == len(wanted)
    assert all(any(f'"{kind}"'.encode() in line for kind in wanted) for line in delivery.got)


async def test_what_waits_when_it_is_closed_is_still_delivered() -> None:
    delivery = Noted()
    each = sink(delivery)
    async with running(each):
        offer(each, 5)
    assert delivery.seqs == [1, 2, 3, 4, 5]
    assert delivery.closed
    assert each.counters.sent == 5


async def test_records_offered_before_it_runs_are_delivered_once_it_does() -> None:
    delivery = Noted()
    each = sink(delivery)
    offer(each, 3)
    each.close()
    await each.run()
    assert delivery.seqs == [1, 2, 3]


async def test_a_sink_that_was_closed_before_it_ran_ends_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    each = sink(Stuck())
    offer(each, 3)
    each.close()
    with anyio.fail_after(WAIT_S):
        await each.run()
    assert each.counters.dropped == 3
    assert each.counters.why == "it was closed before they were delivered"


async def test_a_closed_sink_takes_nothing_and_a_delivery_that_hangs_ends_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    delivery = Stuck()
    each = sink(delivery)
    async with running(each):
        offer(each, 5)
        await until(lambda: delivery.tries, "a delivery has begun")
        each.close()
        offer(each, 1, first=6)
    assert delivery.closed
    assert each.counters.dropped == 6


async def test_a_cancelled_sink_counts_what_it_had_not_delivered() -> None:
    delivery = Stuck()
    each = sink(delivery)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(each.run)
        offer(each, 5)
        await until(lambda: delivery.tries, "a delivery has begun")
        tasks.cancel_scope.cancel()
    assert each.counters.dropped == 5
    assert delivery.closed


async def test_what_can_be_tried_again_arrives_in_order_and_whole() -> None:
    delivery = Noted(
        Undelivered("full", then="retry"), None, Undelivered("full", then="retry", sent=1)
    )
    each = sink(delivery)
    async with running(each):
        offer(each, 6)
        await until(lambda: each.counters.sent == 6, "everything is delivered")
    assert delivery.seqs == [1, 2, 3, 4, 5, 6]
    assert each.counters.lost == 0
    assert each.counters.why == "full"


async def test_what_is_given_up_is_counted_and_the_next_gets_its_turn() -> None:
    delivery = Noted(Undelivered("refused", then="drop", sent=1))
    each = sink(delivery)
    async with running(each):
        offer(each, 4)
    assert delivery.seqs == [1, 3, 4]
    assert (each.counters.sent, each.counters.failed) == (3, 1)
    assert "lost 1 record so far: refused" in str(each.report())


async def test_cw_b2_every_way_not_to_deliver_is_one_class_that_is_counted_and_never_raised() -> (
    None
):
    faults = [
        Undelivered("connect", then="drop-all", quiet=True),
        Undelivered("write", then="drop-all"),
        Undelivered("answer", then="drop"),
    ]
    delivery = Noted(*faults)
    each = sink(delivery)
    async with running(each):
        for tries in range(1, 4):
            offer(each, 1, first=tries)
            await until(lost(each, tries), "the failure is counted")
        offer(each, 1, first=4)
    assert delivery.seqs == [4]
    assert (each.counters.dropped, each.counters.failed, each.counters.sent) == (2, 1, 1)


async def test_cw_7_without_a_listener_what_waits_is_dropped_and_nobody_is_troubled() -> None:
    delivery = Noted(Undelivered("there is no socket", then="drop-all", quiet=True))
    each = sink(delivery)
    async with running(each):
        offer(each, 5)
        await until(lambda: each.counters.dropped == 5, "what waits is dropped")
        offer(each, 1, first=6)
    assert delivery.seqs == [6]
    assert each.report(every=True) is None


async def test_a_fault_of_this_program_ends_neither_the_sink_nor_the_core() -> None:
    class Broken(Noted):
        async def send(self, entries: object) -> None:
            if not self.tries:
                self.tries = 1
                raise KeyError
            await super().send(entries)  # type: ignore[arg-type]

    def wrap(each: Record) -> bytes:
        if each.seq == 3:
            raise KeyError
        return as_record(each)

    delivery = Broken()
    each = Sink("sink", ("*",), wrap, delivery, queue=10)
    async with running(each):
        offer(each, 5)
    assert delivery.seqs == [4, 5]
    assert (each.counters.sent, each.counters.failed) == (2, 3)
    assert each.counters.why.startswith("internal error: KeyError at")


async def test_all_sinks_together_tell_when_they_have_ended() -> None:
    sinks = Sinks([sink(Noted()), sink(Noted())])
    async with running(sinks):
        with anyio.move_on_after(0) as waited:
            await sinks.drained()
        assert waited.cancelled_caught
        sinks.close()
        await sinks.drained()


async def test_cw_6_every_other_sink_gets_the_record_in_the_order_of_the_configuration() -> None:
    order: list[str] = []

    class Named(Noted):
        def __init__(self, name: str, *faults: Undelivered) -> None:
            super().__init__(*faults)
            self.name = name

        async def send(self, entries: object) -> None:
            order.append(self.name)
            await super().send(entries)  # type: ignore[arg-type]

    failing = [Undelivered("no", then="drop") for _ in range(9)]
    deliveries = [Named("first"), Named("second", *failing), Named("third")]
    sinks = Sinks([sink(each) for each in deliveries])
    async with running(sinks):
        sinks.offer(record(1))
        await until(lambda: len(order) == 3, "each has tried")
        assert order == ["first", "second", "third"]
        offer(sinks, 2, first=2)
    assert [each.seqs for each in deliveries] == [[1, 2, 3], [], [1, 2, 3]]
    (report,) = sinks.reports(every=True)
    assert "lost 3 records so far: no" in report


async def test_cw_b4_a_sink_that_hangs_holds_up_no_other_and_keeps_a_bounded_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    stuck, fast = Stuck(), Noted()
    slow = sink(stuck, queue=8, limit_bytes=4 * LARGE)
    sinks = Sinks([slow, sink(fast)])
    async with running(sinks):
        for first in range(1, 100, 10):
            offer(sinks, 10, first=first, size=LARGE)
            await until(got(fast, first + 9), "the other is fed")
        assert stuck.tries == 1
        assert slow.counters.dropped >= 100 - 8 - stuck.at_once
        slow.close()
    assert slow.counters.lost == 100
    assert fast.seqs == list(range(1, 101))
