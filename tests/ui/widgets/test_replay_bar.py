"""The banner above a replay or a demo: where it stands, and who waits behind it."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.widgets_app import Stage, texts
from watchgate.ui.source.replay_source import ReplayView
from watchgate.ui.view_model.overview import Waiting
from watchgate.ui.widgets.status_strip import ReplayBar

PAUSED = ReplayView(played=3, count=9, film_s=4.0, end_s=60.0, now_us=0, paused=True)
ONE = Waiting(1, "critical", "denied in 0:43")
HELD = Waiting(12, "high", "held until somebody decides")
THREE = Waiting(3, "critical", "denied in 0:09")


async def drawn(view: ReplayView | None, waiting: Waiting, cells: int = 120) -> str:
    bar = ReplayBar()
    async with Stage(bar).run_test(size=(cells, 2)):
        bar.show(view, waiting)
        return texts(bar)[0].rstrip()


@pytest.mark.parametrize(
    ("waiting", "cells", "words"),
    [
        (ONE, 120, "1 request now: CRITICAL denied in 0:43, q leaves the demo"),
        (
            THREE,
            120,
            "3 requests now: the highest CRITICAL, next denied in 0:09, q leaves the demo",
        ),
    ],
)
async def test_who_waits_is_told_with_risk_and_deadline(
    waiting: Waiting, cells: int, words: str
) -> None:
    assert words in await drawn(None, waiting, cells)
    assert words.replace("demo", "replay") in await drawn(PAUSED, waiting, cells)


@pytest.mark.parametrize(
    ("view", "waiting", "cells", "line"),
    [
        (None, ONE, 80, "DEMO 1 request now: CRITICAL denied in 0:43, q leaves the demo"),
        (None, THREE, 80, "DEMO 3 now: up to CRITICAL, next denied in 0:09, q leaves the demo"),
        (None, THREE, 60, "DEMO 3 now up to CRITICAL, q leaves"),
        (None, HELD, 80, "DEMO 12 now: up to HIGH, next held until somebody decides, q leaves"),
        (None, HELD, 30, "DEMO 12 now, q leaves"),
        (PAUSED, ONE, 80, "REPLAY paused 1 now: CRITICAL denied in 0:43, q leaves the replay"),
        (PAUSED, THREE, 80, "REPLAY paused 3 now: up to CRITICAL, next denied in 0:09, q leaves"),
        (PAUSED, HELD, 80, "REPLAY paused 00:00:00 0:04 of 1:00 12 now up to HIGH, q leaves"),
    ],
)
async def test_who_waits_and_the_way_out_are_whole_however_narrow_it_is(
    view: ReplayView | None, waiting: Waiting, cells: int, line: str
) -> None:
    told = await drawn(view, waiting, cells)
    assert " ".join(told.split()) == line


async def test_the_speed_is_seen_while_the_replay_is_paused() -> None:
    assert "paused  " in await drawn(PAUSED, Waiting())
    assert "paused, 4x" in await drawn(msgspec.structs.replace(PAUSED, speed=4.0), Waiting())
