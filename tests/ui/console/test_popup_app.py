"""The popup: one request whole, the same arming, and it closes when the request is settled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, Bench, keys_as_pressed
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.open_requests import BUILD, FIRST, SECOND, THIRD, asked, pending
from tests.ui.picture import CRITICAL, NOW_US, busy, long, quiet
from watchgate.core.model.records import Record
from watchgate.link.protocol import Snapshot
from watchgate.ui.console.popup_app import DECIDED, NOT_DECIDED, PopupApp

pytestmark = pytest.mark.anyio


class Popup(PopupApp):
    """A popup that remembers how it closed, and stays: `left` is its exit code and its words."""

    left: tuple[int, str | None] | None = None

    def exit(
        self, result: str | None = None, return_code: int = 0, message: object | None = None
    ) -> None:
        self.left = (return_code, result)


def left(bench: Bench) -> tuple[int, str | None] | None:
    assert isinstance(bench.app, Popup)
    return bench.app.left


@asynccontextmanager
async def popup(
    snapshot: Snapshot, *, size: tuple[int, int] = (102, 32), goes_on: bool = False
) -> AsyncIterator[Bench]:
    """A popup on a core that gave this snapshot."""
    clock, source = FakeClock(NOW_US), FakeSource(snapshot)
    app = Popup(source, clock, OPTIONS, clock.now_s, goes_on=goes_on)
    bench = Bench(app, source, clock)
    with keys_as_pressed():
        async with app.run_test(size=size) as pilot:
            bench.pilot = pilot
            await bench.until(lambda: app.bridge.link.state == "attached")
            await bench.settle()
            if snapshot.pending:
                await bench.until(lambda: app.operator.drawn_id)
            yield bench


def settled(request: str, word: str, seq: int = 48_212) -> Record:
    """How the core tells that a request is settled."""
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=NOW_US + 1,
        kind="approval.decided",
        agent="claude",
        session="api-fix-session",
        request=request,
        data={"word": word, "by": "operator ana (pts/3)", "waited_s": 4.0, "digest": "d" * 64},
    )


async def test_it_shows_the_request_that_ends_first_and_nothing_beside_it() -> None:
    async with popup(busy()) as bench:
        assert bench.app.desk.docked == CRITICAL
        assert "rm -rf build/" in bench.screen
        assert "Monitor" not in bench.screen
        assert "calls/min" not in bench.screen
        assert "a allow" in bench.screen


@pytest.mark.parametrize("size", [(60, 16), (78, 22), (102, 32)])
async def test_deny_is_one_key_at_every_size(size: tuple[int, int]) -> None:
    async with popup(pending(asked()), size=size) as bench:
        await bench.press("d")
        (sent,) = bench.source.asked
        assert (sent.verb, sent.request, sent.decision) == ("decide", FIRST, "deny")


async def test_what_was_typed_for_the_pane_below_decides_nothing() -> None:
    async with popup(pending(asked())) as bench:
        bench.clock.advance(-10.0)  # the keys were read before the first frame stood
        for key in ("a", "d"):
            await bench.pilot.press(key)
        bench.clock.advance(10.26)
        await bench.settle()
        assert bench.source.asked == []


async def test_allow_keys_are_dead_until_the_request_was_drawn_for_600_ms() -> None:
    async with popup(pending(asked())) as bench:
        await bench.press("a", apart_s=0.4)
        assert bench.source.asked == []
        assert "not yet" in bench.screen
        await bench.press("a")
        (sent,) = bench.source.asked
        assert (sent.request, sent.decision) == (FIRST, "allow")


async def test_allow_keys_are_dead_for_half_a_second_after_the_focus_came() -> None:
    async with popup(pending(asked())) as bench:
        bench.clock.advance(5.0)
        bench.app.operator.focused()
        await bench.press("a", apart_s=0.4)
        assert bench.source.asked == []


async def test_nothing_is_allowed_that_was_not_shown_to_its_end() -> None:
    async with popup(long(), size=(78, 20)) as bench:
        await bench.press("a", "a")
        assert bench.source.asked == []
        assert "not all of it was on the screen yet" in bench.screen


async def test_it_closes_when_anybody_settles_what_it_shows() -> None:
    async with popup(pending(asked(), asked(id=SECOND))) as bench:
        shown = bench.app.desk.docked or ""
        bench.source.feed(settled(shown, "denied-by-operator"))
        await bench.until(lambda: left(bench))
        assert left(bench) == (DECIDED, f"watchgate: #{shown[:4]} denied by operator")


@pytest.mark.parametrize("word", ["denied-by-timeout", "withdrawn"])
async def test_what_nobody_decided_is_told_by_the_exit_code(word: str) -> None:
    async with popup(pending(asked())) as bench:
        bench.source.feed(settled(FIRST, word))
        await bench.until(lambda: left(bench))
        assert (left(bench) or (None,))[0] == NOT_DECIDED


async def test_another_request_that_is_settled_leaves_it_open() -> None:
    async with popup(pending(asked(), asked(id=SECOND))) as bench:
        await bench.press("tab")
        shown = bench.app.desk.docked
        other = FIRST if shown == SECOND else SECOND
        bench.source.feed(settled(other, "denied-by-operator"))
        await bench.until(lambda: len(bench.app.bridge.state.pending) == 1)
        await bench.settle()
        assert left(bench) is None
        assert bench.app.desk.docked == shown


async def test_asked_for_all_it_goes_on_with_the_next_until_there_is_none() -> None:
    async with popup(pending(asked(), asked(id=SECOND)), goes_on=True) as bench:
        first = bench.app.desk.docked or ""
        second = SECOND if first == FIRST else FIRST
        bench.source.feed(settled(first, "denied-by-operator"))
        await bench.until(lambda: bench.app.operator.drawn_id == second)
        assert left(bench) is None
        bench.source.feed(settled(second, "denied-by-operator", 48_213))
        await bench.until(lambda: left(bench))
        assert (left(bench) or (None,))[0] == DECIDED


async def test_an_edited_request_is_followed_to_the_one_in_its_place() -> None:
    plain = asked(f"{BUILD} --dry", id=SECOND)
    after = msgspec.structs.replace(
        plain, data=msgspec.structs.replace(plain.data, edited_from=FIRST)
    )
    async with popup(pending(asked())) as bench:
        bench.app.bridge.state.pending[SECOND] = after
        await bench.settle()
        bench.source.feed(settled(FIRST, "edited-by-operator"))
        await bench.until(lambda: bench.app.operator.drawn_id == SECOND)
        assert left(bench) is None


async def test_an_edited_request_is_followed_also_when_its_end_is_read_first() -> None:
    plain = asked(f"{BUILD} --dry", id=SECOND)
    after = msgspec.structs.replace(
        plain, data=msgspec.structs.replace(plain.data, edited_from=FIRST)
    )
    async with popup(pending(asked(), asked(id=THIRD))) as bench:
        bench.app.desk.docked = FIRST
        await bench.settle()
        bench.source.feed(settled(FIRST, "edited-by-operator"))
        await bench.until(lambda: FIRST not in bench.app.bridge.state.pending)
        await bench.settle()
        assert left(bench) is None
        bench.app.bridge.state.pending[SECOND] = after
        await bench.settle()
        await bench.until(lambda: bench.app.operator.drawn_id == SECOND)
        bench.source.feed(settled(SECOND, "allowed-by-operator", 48_213))
        await bench.until(lambda: left(bench))
        assert (left(bench) or (None,))[0] == DECIDED


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_esc_and_q_close_it_with_nothing_decided(key: str) -> None:
    async with popup(busy()) as bench:
        await bench.press(key)
        assert left(bench) == (NOT_DECIDED, None)
        assert bench.source.asked == []


async def test_esc_first_closes_what_lies_above_the_request() -> None:
    async with popup(busy()) as bench:
        await bench.press("?")
        await bench.press("escape")
        assert left(bench) is None
        await bench.press("r")
        await bench.press("escape")
        assert left(bench) is None
        assert "rm -rf build/" in bench.screen


@pytest.mark.parametrize("key", ["1", "2", "3", "4", "5", "s", "/", ":", "'", "x", "z"])
async def test_a_key_of_the_whole_console_says_where_that_is(key: str) -> None:
    async with popup(busy()) as bench:
        await bench.press(key)
        assert left(bench) is None
        assert bench.app.pages.top is bench.app.monitor
        assert "popup shows" in bench.screen


async def test_with_nothing_open_any_more_it_closes_at_once() -> None:
    clock, source = FakeClock(NOW_US), FakeSource(quiet())
    app = Popup(source, clock, OPTIONS, clock.now_s)
    bench = Bench(app, source, clock)
    async with app.run_test(size=(80, 24)) as pilot:
        bench.pilot = pilot
        await bench.until(lambda: app.left)
    assert app.left == (NOT_DECIDED, "watchgate: nothing is pending")


async def test_a_core_that_is_lost_leaves_it_open_and_says_so() -> None:
    async with popup(busy()) as bench:
        bench.source.lose()
        await bench.until(lambda: bench.app.bridge.link.lost)
        await bench.settle()
        assert left(bench) is None
        assert "core lost" in bench.screen
        await bench.press("escape")
        assert left(bench) == (NOT_DECIDED, None)
