"""The strip: what it tells first when there is little room."""

from __future__ import annotations

import pytest

from tests.ui.widgets_app import Stage, strips, texts
from watchgate.ui.view_model.overview import StripView
from watchgate.ui.widgets.status_strip import StatusStrip


async def drawn(view: StripView, cells: int) -> str:
    strip = StatusStrip()
    async with Stage(strip).run_test(size=(cells, 4)):
        strip.show(view)
        return texts(strip)[0]


@pytest.mark.parametrize(
    ("ungated", "words"),
    [(3, "3 calls ungated"), (1, "1 call ungated"), (1_182, "1,182 calls ung")],
)
async def test_calls_that_passed_no_gate_are_counted_with_their_unit(
    ungated: int, words: str
) -> None:
    assert f"   {words}" in await drawn(StripView(ungated=ungated), 120)


async def test_nothing_is_said_of_the_gate_where_all_passed_it() -> None:
    assert "gated" not in await drawn(StripView(), 120)


async def test_calls_that_passed_no_gate_stay_when_other_counts_have_to_go() -> None:
    view = StripView(
        ungated=3,
        sessions=4,
        per_minute="14",
        alert="pending",
        worst="critical",
        pending=2,
        consequence="Claude asks by itself in 0:23",
    )
    line = await drawn(view, 100)
    assert "3 calls ungated" in line
    assert "calls/min" not in line
    narrow = await drawn(StripView(ungated=3, alert="pending", consequence="denied"), 66)
    assert "3 calls ungated" in narrow
    assert "$0.00" not in narrow


async def test_ungated_calls_are_bold() -> None:
    strip = StatusStrip()
    async with Stage(strip).run_test(size=(120, 4)):
        strip.show(StripView(ungated=3))
        (part,) = [each for each in strips(strip)[0] if "gated" in each.text]
        assert part.style
        assert part.style.bold
