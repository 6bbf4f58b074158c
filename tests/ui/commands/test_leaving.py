"""Leaving a console whose core ends with it: the key says so and asks once."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import OPTIONS, running
from tests.ui.picture import busy, quiet
from tests.ui.screens.test_console_states import lost
from watchgate.ui.view_model.console_options import Options

HOSTED = msgspec.structs.replace(OPTIONS, hosted=True)
AGAIN = "q again leaves the console and ends its core: hooks that gate deny then"


@pytest.mark.parametrize(
    ("cells", "says"), [(120, "q quit: the core ends with it"), (80, "q quit, ends core")]
)
async def test_the_footer_says_what_q_ends(cells: int, says: str) -> None:
    async with running(quiet(), size=(cells, 24), options=HOSTED) as bench:
        assert says in bench.screen
        assert "detach" not in bench.screen


async def test_q_asks_once_and_then_leaves() -> None:
    async with running(quiet(), options=HOSTED) as bench:
        await bench.press("q")
        assert AGAIN in bench.screen
        assert bench.app.return_value is None
        await bench.press("q")
        assert "its core ended with it" in str(bench.app.return_value)


async def test_the_question_is_forgotten_after_a_while() -> None:
    async with running(quiet(), options=HOSTED) as bench:
        await bench.press("q")
        bench.clock.advance(6)
        await bench.press("q")
        assert bench.app.return_value is None


async def test_with_requests_open_it_asks_as_well() -> None:
    async with running(busy(), options=HOSTED) as bench:
        await bench.press("q")
        assert AGAIN in bench.screen
        assert bench.app.return_value is None


async def test_nothing_is_asked_where_no_core_ends() -> None:
    async with running(quiet(), options=HOSTED) as bench:
        await lost(bench)
        await bench.press("q")
        assert bench.app.return_value is not None


@pytest.mark.parametrize("options", [OPTIONS, msgspec.structs.replace(HOSTED, demo=True)])
async def test_a_console_beside_its_core_and_a_demo_leave_at_once(options: Options) -> None:
    async with running(quiet(), options=options) as bench:
        await bench.press("q")
        assert bench.app.return_value is not None
