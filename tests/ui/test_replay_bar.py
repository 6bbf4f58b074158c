"""The banner above a replay or a demo: where it stands, and who waits behind it."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.widgets_app import Stage, texts
from watchgate.ui.overview import Waiting
from watchgate.ui.replay.view import ReplayView
from watchgate.ui.widgets.replay_bar import ReplayBar

PAUSED = ReplayView(played=3, count=9, film_s=4.0, end_s=60.0, now_us=0, paused=True)
ONE = Waiting(1, "critical", "denied in 0:43")
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
        (ONE, 80, "1 now: CRITICAL denied in 0:43, q"),
        (THREE, 80, "3 now: CRITICAL denied in 0:09, q"),
    ],
)
async def test_who_waits_is_told_with_risk_and_deadline(
    waiting: Waiting, cells: int, words: str
) -> None:
    assert words in await drawn(None, waiting, cells)
    assert words.replace("demo", "replay") in await drawn(PAUSED, waiting, cells)


async def test_the_speed_is_seen_while_the_replay_is_paused() -> None:
    assert "paused  " in await drawn(PAUSED, Waiting())
    assert "paused, 4x" in await drawn(msgspec.structs.replace(PAUSED, speed=4.0), Waiting())
