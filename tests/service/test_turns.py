from __future__ import annotations

from itertools import chain, repeat

import anyio
import anyio.lowlevel
import pytest

from watchgate.service import turns
from watchgate.service.turns import TURNS, Turns

LINES = b"a\n" * 3


@pytest.fixture(autouse=True)
def _each_line_takes_a_whole_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PIECE_BYTES", 1)
    monkeypatch.setattr(turns, "SLICE_S", 0.0)


def nobody_decides() -> bool:
    return False


async def test_others_have_several_turns_between_two_slices() -> None:
    seen: list[str] = []

    async def other() -> None:
        while True:
            seen.append("other")
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await Turns(nobody_decides).take(lambda: LINES, lambda piece: seen.append(piece.decode()))
        tasks.cancel_scope.cancel()
    between = "".join("." if one == "other" else "|" for one in seen).strip(".").split("|")
    assert seen.count("a\n") == 3
    assert all(len(others) >= TURNS for others in between[1:-1])


async def test_who_has_begun_goes_on_and_nobody_reads_before_its_turn() -> None:
    seen: list[str] = []
    shared = Turns(nobody_decides)

    async def stream(name: str) -> None:
        def read() -> bytes:
            seen.append(f"{name} reads")
            return LINES

        await shared.take(read, lambda _piece: seen.append(name))

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

    await Turns(deciding).take(lambda: b"a\n", lambda piece: seen.append(piece.decode()))
    assert seen == ["deciding", "deciding", "decided", "a\n"]


async def test_a_disk_that_takes_long_does_not_stop_what_is_observed() -> None:
    handed: list[bytes] = []
    await Turns(lambda: True).take(lambda: LINES, handed.append)
    assert b"".join(handed) == LINES


async def test_a_stream_that_fails_leaves_the_turn_to_the_next() -> None:
    shared = Turns(nobody_decides)

    def fails(_piece: bytes) -> None:
        raise ValueError("a bug")

    handed: list[bytes] = []
    with pytest.raises(ValueError, match="a bug"):
        await shared.take(lambda: LINES, fails)
    assert await shared.take(lambda: LINES, handed.append)
    assert b"".join(handed) == LINES


async def test_a_stream_that_has_nothing_yet_says_so_and_one_without_a_whole_line_does_not() -> (
    None
):
    shared = Turns(nobody_decides)
    handed: list[bytes] = []
    assert not await shared.take(lambda: None, handed.append)
    assert await shared.take(lambda: b"", handed.append)
    assert handed == []
