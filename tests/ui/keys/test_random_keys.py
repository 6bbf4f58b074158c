"""Random keys, resizes and records, for minutes of simulated time.

Nothing raises, the console is never left but by its keys, no decision without an armed key on the
id that was drawn, and nothing under the hands moves by itself. `WATCHGATE_RANDOM_STEPS` and
`WATCHGATE_RANDOM_SEEDS` make the runs longer and more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from tests.ui.console_bench import running
from tests.ui.picture import busy
from tests.ui.random_core import RandomCore
from tests.ui.random_hands import SIZES, RandomHands
from watchgate.ui.keys import keymap

STEPS = int(os.environ.get("WATCHGATE_RANDOM_STEPS", "100"))
SEEDS = int(os.environ.get("WATCHGATE_RANDOM_SEEDS", "2"))


async def run(seed: int, steps: int) -> RandomHands:
    """One console under random hands; whatever fails tells the seed and the last steps."""
    rng = Random(seed)
    async with running(busy(), size=rng.choice(SIZES)) as bench:
        hands = RandomHands(bench, rng, RandomCore(rng))
        try:
            with patch.object(keymap, "time", SimpleNamespace(monotonic=bench.clock.now_s)):
                await hands.settle()
                while hands.steps < steps and not hands.over:
                    await hands.step()
                    assert bench.app._exception is None
                await hands.flush()
        except Exception as failed:
            failed.add_note(f"seed {seed}, step {hands.steps}: {hands.log[-40:]}")
            raise
        return hands


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_is_pressed_nothing_is_decided_that_was_not_asked_for(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    hands = await run(seed, STEPS)
    record_property("simulated_minutes", round(hands.minutes, 1))
    record_property("decisions", hands.oracle.allowed + hands.oracle.denied + hands.oracle.handed)
    assert hands.steps == STEPS or hands.left


async def test_keys_that_waited_together_for_a_stalled_console_are_a_burst() -> None:
    async with running(busy()) as bench:
        hands = RandomHands(bench, Random(1), RandomCore(Random(1)))
        with patch.object(keymap, "time", SimpleNamespace(monotonic=bench.clock.now_s)):
            await hands.flush()
            await hands.flush()
            for key in ("d", "4"):
                hands._send(key)
                bench.clock.advance(0.15)
            await hands.settle()
            await hands.flush()
        assert not bench.source.asked


async def test_the_random_hands_do_decide_when_they_mean_it() -> None:
    """The test above would prove nothing if no key ever decided."""
    async with running(busy()) as bench:
        hands = RandomHands(bench, Random(1), RandomCore(Random(1)))
        with patch.object(keymap, "time", SimpleNamespace(monotonic=bench.clock.now_s)):
            await hands.settle()
            await hands.flush()
            await hands.flush()
            for key in ("a", "y", "e", "s"):
                await hands.press(key, 0.9)
                await hands.settle()
            await hands.flush()
            await hands.press("d", 0.9)
            await hands.flush()
        assert (hands.oracle.allowed, hands.oracle.denied) == (1, 1)
