"""A demo that a console plays takes no live console's place unasked, and hides nobody who waits."""

from __future__ import annotations

import anyio
import msgspec

from tests.ui.approvals_picture import critical
from tests.ui.console_bench import OPTIONS, running
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import NOW_US, busy, first_run, quiet
from tests.ui.screens.test_approvals_screen import requested


async def _open_demo() -> tuple[FakeSource, FakeClock]:
    return FakeSource(busy()), FakeClock(NOW_US)


WITH_DEMO = msgspec.structs.replace(OPTIONS, open_demo=_open_demo)


async def test_the_demo_takes_the_place_of_sessions_only_when_asked_twice() -> None:
    async with running(quiet(), options=WITH_DEMO) as bench:
        await bench.press("x")
        await bench.settle()
        assert "x again shows the demo in place of your sessions" in bench.screen
        assert not bench.app.stage.demo
        bench.clock.advance(5.0)
        await bench.press("x")
        assert "x again shows the demo" in bench.screen
        await bench.press("x")
        await bench.until(lambda: bench.app.stage.demo)


async def test_the_demo_never_hides_an_open_request() -> None:
    async with running(busy(), options=WITH_DEMO) as bench:
        await bench.press("x", "x")
        await bench.settle()
        assert "not while a request is open" in bench.screen
        assert not bench.app.stage.demo


async def test_a_request_that_comes_while_the_demo_is_opened_is_not_hidden() -> None:
    opening = anyio.Event()

    async def open_demo() -> tuple[FakeSource, FakeClock]:
        await opening.wait()
        return await _open_demo()

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options) as bench:
        await bench.press("x")
        bench.source.feed(requested(critical()))
        await bench.until(lambda: "1 PENDING" in bench.screen)
        opening.set()
        await bench.until(lambda: "a request came meanwhile" in bench.screen)
        assert not bench.app.stage.demo


async def test_the_demo_tells_who_waits_at_the_own_core() -> None:
    async with running(first_run(), options=WITH_DEMO) as bench:
        await bench.press("x")
        await bench.until(lambda: "2 PENDING" in bench.screen)
        assert "invented" not in bench.screen
        bench.source.feed(requested(critical()))
        await bench.until(
            lambda: "1 request now: CRITICAL denied in 0:21, q leaves the demo" in bench.screen
        )
        assert "these calls are invented" in bench.screen.splitlines()[0]
        await bench.press("q")
        await bench.until(lambda: "1 PENDING" in bench.screen)


async def test_a_frozen_view_ends_with_the_demo_that_takes_its_place() -> None:
    """What is drawn after it is drawn anew: it is no picture of when the view was frozen."""
    async with running(quiet(), options=WITH_DEMO) as bench:
        await bench.press("z")
        assert "FROZEN" in bench.screen
        await bench.press("x", "x")
        await bench.until(lambda: bench.app.stage.demo)
        await bench.settle()
        assert "FROZEN" not in bench.screen
        await bench.press("q")
        await bench.until(lambda: not bench.app.stage.demo)
        await bench.settle()
        assert "FROZEN" not in bench.screen
