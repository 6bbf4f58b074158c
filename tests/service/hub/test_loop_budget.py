from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat

import anyio
import anyio.lowlevel
import pytest

from watchgate.core.secrets.secret_finder import SecretsByText
from watchgate.service.hub import loop_budget
from watchgate.service.hub.loop_budget import TURNS, LoopBudget

LINES = b"a\n" * 3


@pytest.fixture(autouse=True)
def _each_line_takes_a_whole_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_budget, "PIECE_BYTES", 1)
    monkeypatch.setattr(loop_budget, "SLICE_S", 0.0)


def nobody_decides() -> bool:
    return False


Hand = Callable[[bytes, SecretsByText], Iterator[None]]


def at_once(take: Callable[[bytes], object]) -> Hand:
    """Takes a piece in one step."""

    def hand(piece: bytes, _secrets: SecretsByText) -> Iterator[None]:
        take(piece)
        yield from ()

    return hand


async def test_others_have_several_turns_between_two_slices() -> None:
    seen: list[str] = []

    async def other() -> None:
        while True:
            seen.append("other")
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await LoopBudget(nobody_decides).take(
            lambda: LINES, at_once(lambda piece: seen.append(piece.decode()))
        )
        tasks.cancel_scope.cancel()
    between = "".join("." if one == "other" else "|" for one in seen).strip(".").split("|")
    assert seen.count("a\n") == 3
    assert all(len(others) >= TURNS for others in between[1:-1])


async def test_others_have_several_turns_between_two_steps_of_a_piece() -> None:
    seen: list[str] = []

    async def other() -> None:
        while True:
            seen.append("other")
            await anyio.lowlevel.checkpoint()

    def in_steps(_piece: bytes, _secrets: SecretsByText) -> Iterator[None]:
        for number in range(3):
            seen.append(str(number))
            yield

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await LoopBudget(nobody_decides).take(lambda: b"a\n", in_steps)
        tasks.cancel_scope.cancel()
    between = "".join("." if one == "other" else "|" for one in seen).strip(".").split("|")
    assert [one for one in seen if one != "other"] == ["0", "1", "2"]
    assert all(len(others) >= TURNS for others in between[1:-1])


async def test_while_a_line_is_looked_through_elsewhere_another_stream_goes_on() -> None:
    seen: list[str] = []
    shared = LoopBudget(nobody_decides)
    looked = anyio.Event()

    async def look(_piece: bytes) -> SecretsByText:
        await looked.wait()
        return {}

    async with anyio.create_task_group() as tasks:
        large = at_once(lambda _piece: seen.append("large"))
        tasks.start_soon(shared.take, lambda: b"a\n", large, look)
        await anyio.wait_all_tasks_blocked()
        await shared.take(lambda: b"b\n", at_once(lambda _piece: seen.append("small")))
        looked.set()
    assert seen == ["small", "large"]


async def test_who_has_begun_goes_on_and_nobody_reads_before_its_turn() -> None:
    seen: list[str] = []
    shared = LoopBudget(nobody_decides)

    async def stream(name: str) -> None:
        def read() -> bytes:
            seen.append(f"{name} reads")
            return LINES

        await shared.take(read, at_once(lambda _piece: seen.append(name)))

    async with anyio.create_task_group() as tasks:
        for name in ("first", "second"):
            tasks.start_soon(stream, name)
    each = [[f"{name} reads", name, name, name] for name in ("first", "second")]
    assert seen == [*each[0], *each[1]]


async def test_a_decision_on_its_way_to_the_disk_goes_first() -> None:
    on_its_way = chain([True, True], repeat(False))
    seen: list[str] = []

    def deciding() -> bool:
        seen.append("deciding" if (now := next(on_its_way)) else "decided")
        return now

    await LoopBudget(deciding).take(
        lambda: b"a\n", at_once(lambda piece: seen.append(piece.decode()))
    )
    assert seen == ["deciding", "deciding", "decided", "a\n"]


async def test_a_disk_that_takes_long_does_not_stop_what_is_observed() -> None:
    handed: list[bytes] = []
    await LoopBudget(lambda: True).take(lambda: LINES, at_once(handed.append))
    assert b"".join(handed) == LINES


async def test_a_stream_that_fails_leaves_the_turn_to_the_next() -> None:
    shared = LoopBudget(nobody_decides)

    def fails(_piece: bytes) -> None:
        raise ValueError("a bug")

    handed: list[bytes] = []
    with pytest.raises(ValueError, match="a bug"):
        await shared.take(lambda: LINES, at_once(fails))
    assert await shared.take(lambda: LINES, at_once(handed.append))
    assert b"".join(handed) == LINES


async def test_a_stream_that_has_nothing_yet_says_so_and_one_without_a_whole_line_does_not() -> (
    None
):
    shared = LoopBudget(nobody_decides)
    handed: list[bytes] = []
    assert not await shared.take(lambda: None, at_once(handed.append))
    assert await shared.take(lambda: b"", at_once(handed.append))
    assert handed == []
