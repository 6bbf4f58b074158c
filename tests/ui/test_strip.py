"""The strip: what it tells first when there is little room."""

from __future__ import annotations

import pytest

from tests.ui.widgets_app import Stage, strips, texts
from watchgate.ui.widgets.strip import StatusStrip, StripView


async def drawn(view: StripView, cells: int) -> str:
    strip = StatusStrip()
    async with Stage(strip).run_test(size=(cells, 4)):
        strip.show(view)
        return texts(strip)[0]


@pytest.mark.parametrize(
    ("ran", "gated", "cells", "words"),
    [
        (43, 40, 120, "gated 40 of 43 calls"),
        (1, 0, 120, "gated 0 of 1 call"),
        (43, 43, 120, "gated all 43 calls"),
        (1_182, 1_182, 120, "gated all 1,182 calls"),
        (43, 40, 80, "3 calls ungated"),
        (43, 42, 80, "1 call ungated"),
    ],
)
async def test_what_of_the_calls_had_passed_the_gate_names_its_unit(
    ran: int, gated: int, cells: int, words: str
) -> None:
    line = await drawn(StripView(ran=ran, gated=gated), cells)
    assert f"   {words}   " in f"{line}   "


async def test_nothing_is_said_of_the_gate_before_anything_ran() -> None:
    assert "gated" not in await drawn(StripView(), 120)


async def test_calls_that_passed_no_gate_stay_when_other_counts_have_to_go() -> None:
    view = StripView(
        ran=43,
        gated=40,
        sessions=4,
        per_minute="14",
        alert="pending",
        worst="critical",
        pending=2,
        consequence="Claude asks by itself in 0:23",
    )
    line = await drawn(view, 100)
    assert "gated 40 of 43 calls" in line
    assert "calls/min" not in line
    narrow = await drawn(StripView(ran=43, gated=40, alert="pending", consequence="denied"), 66)
    assert "3 calls ungated" in narrow
    assert "$0.00" not in narrow


async def test_ungated_calls_are_bold_and_a_full_count_is_not() -> None:
    for gated, bold in ((40, True), (43, False)):
        strip = StatusStrip()
        async with Stage(strip).run_test(size=(120, 4)):
            strip.show(StripView(ran=43, gated=gated))
            (part,) = [each for each in strips(strip)[0] if "gated" in each.text]
            assert bool(part.style and part.style.bold) is bold
