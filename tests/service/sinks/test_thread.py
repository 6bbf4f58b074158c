from __future__ import annotations

import threading

import anyio

from tests.service.wire_frames import WAIT_S, until
from watchgate.service.sinks.delivery import DeliveryThread, Done


async def test_work_is_done_elsewhere_and_its_result_comes_back() -> None:
    seen: list[threading.Thread] = []

    def work() -> Done:
        seen.append(threading.current_thread())
        return 3, ""

    assert await DeliveryThread("t").do(work) == (3, "")
    assert seen[0] is not threading.main_thread()
    assert seen[0].daemon


async def test_who_stops_waiting_is_free_at_once_and_what_had_not_begun_is_never_done() -> None:
    thread, hold, begun = DeliveryThread("t"), threading.Event(), threading.Event()
    done: list[int] = []

    def stuck() -> Done:
        begun.set()
        hold.wait(WAIT_S)
        return 1, ""

    def later(number: int) -> Done:
        done.append(number)
        return number, ""

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(thread.do, stuck)
        await until(begun.is_set, "the work has begun")
        tasks.cancel_scope.cancel()
    with anyio.move_on_after(0):
        await thread.do(lambda: later(1))
    hold.set()
    with anyio.fail_after(WAIT_S):
        assert await thread.do(lambda: later(2)) == (2, "")
    assert done == [2]


async def test_work_that_fails_through_a_fault_of_ours_is_a_failure_and_the_next_is_done() -> None:
    thread = DeliveryThread("t")

    def broken() -> Done:
        raise KeyError

    with anyio.fail_after(WAIT_S):
        sent, why = await thread.do(broken)
        assert sent == 0
        assert why.startswith("internal error: KeyError at test_thread.py")
        assert await thread.do(lambda: (1, "")) == (1, "")
