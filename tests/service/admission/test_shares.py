"""What is scarce is shared out by the process that asks, whatever it starts."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from tests.service.wire_frames import until
from watchgate.service.admission.socket_shares import Shares


def of_tens(pid: int) -> int:
    """Processes 10 to 19 ask for 10, and so on."""
    return pid // 10 * 10


def test_one_asker_holds_its_share_and_another_still_finds_room() -> None:
    shares = Shares(10, 4, of_tens)
    assert [shares.take(pid, 1) for pid in (11, 12, 13, 14, 15)] == ["", "", "", "", "share"]
    assert shares.take(21, 4) == ""
    assert shares.take(22, 1) == "share"
    assert shares.take(31, 2) == ""
    assert shares.take(31, 1) == "most"


def test_what_is_given_back_can_be_taken_again() -> None:
    shares = Shares(10, 2, of_tens)
    with shares.taken(11, 2) as full:
        assert full == ""
        with shares.taken(12) as refused:
            assert refused == "share"
    assert shares.total == 0
    assert shares.take(12, 2) == ""


def test_nobody_is_looked_up_while_nobody_can_hold_too_much() -> None:
    asked: list[int] = []

    def asker_of(pid: int) -> int:
        asked.append(pid)
        return pid

    shares = Shares(10, 3, asker_of)
    for pid in (1, 2, 3):
        shares.take(pid, 1)
    assert asked == []
    shares.take(4, 1)
    assert sorted(asked) == [1, 2, 3, 4]


def test_a_number_that_is_used_again_is_looked_up_again() -> None:
    askers = {1: "one", 2: "two"}
    shares = Shares(10, 1, lambda pid: askers[pid])
    shares.take(1, 1)
    assert shares.take(2, 1) == ""
    shares.give_back(2, 1)
    askers[2] = "one"
    assert shares.take(2, 1) == "share"


async def test_all_that_wait_for_room_get_it_in_turn() -> None:
    shares = Shares(4, 2, of_tens)
    had: list[int] = []

    async def use(pid: int) -> None:
        async with shares.room(pid, 2):
            had.append(pid)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        for pid in range(10, 16):
            tasks.start_soon(use, pid)
        await until(lambda: len(had) == 6, "everybody's turn")
    assert shares.total == 0
