"""Random keys in front of a replay, above a core where requests wait: nothing reaches that core.

`WATCHGATE_RANDOM_STEPS` makes the run longer.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from textual.events import Paste

from tests.ui.console_bench import Bench, running
from tests.ui.picture import busy
from tests.ui.random_hands import EVERY, PROMPTED, PURPOSES
from tests.ui.replay_bench import answers, player_of, replayed

STEPS = int(os.environ.get("WATCHGATE_RANDOM_STEPS", "40"))
LOOKING = {"search", "hello"}
WORDS = {
    "?": "question_mark", ":": "colon", "'": "apostrophe", "/": "slash", ",": "comma",
    ".": "full_stop", "<": "less_than_sign", ">": "greater_than_sign", "{": "left_curly_bracket",
    "}": "right_curly_bracket", "$": "dollar_sign", "-": "minus", "+": "plus", "=": "equals_sign",
    "[": "left_square_bracket", "]": "right_square_bracket",
}  # fmt: skip


async def press_anything(bench: Bench, rng: Random, steps: int) -> None:
    """Keys one by one and in bursts, whole ways to a decision, and pastes; no key that leaves."""
    for _ in range(steps):
        kind = rng.random()
        if kind < 0.1:
            bench.app.post_message(Paste("a yes d"))
            await bench.settle()
        elif kind < 0.5:
            for name in rng.choice(PURPOSES).split():
                await bench.press(WORDS.get(name, name), apart_s=0.9)
        else:
            name = rng.choice((*EVERY, *PROMPTED))
            await bench.press(WORDS.get(name, name), apart_s=rng.choice((0.05, 0.9)))
        assert bench.app._exception is None


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_is_pressed_in_a_replay_nothing_reaches_the_core(seed: int) -> None:
    async with replayed(busy(), size=((80, 24), (120, 40))[seed]) as bench:
        waiting = set(bench.app.stage.live.state.pending)  # type: ignore[union-attr]
        player_of(bench.app).seek(20)
        await press_anything(bench, Random(seed), STEPS)
        assert bench.app.stage.replaying
        assert {request.verb for request in bench.source.asked} <= LOOKING
        assert set(bench.app.stage.live.state.pending) == waiting  # type: ignore[union-attr]


async def test_the_same_hands_do_decide_where_it_is_no_replay() -> None:
    """The test above would prove nothing if these keys never decided."""
    async with running(busy()) as bench:
        bench.source.answer = answers
        rng = Random(0)
        for _ in range(5 * STEPS):
            await press_anything(bench, rng, 1)
            if any(request.verb == "decide" for request in bench.source.asked):
                return
        raise AssertionError("none of these keys ever decided")
