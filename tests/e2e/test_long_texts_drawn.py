"""A console stays quick while a call of megabytes arrives and waits for its operator.

What counts is the processor time of the longest step of the console's loop: a key waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from tests.e2e.programs import Core
from tests.e2e.test_console_keys import console
from tests.e2e.test_long_texts import HOSTILE, asked
from watchgate.core.base.patterns import allowance

LIMIT_S = 0.1
ROUNDS = 3


@pytest.fixture(autouse=True)
def _as_the_command_measures() -> Iterator[None]:
    allowance.measure_by(time.thread_time_ns)
    yield
    allowance.measure_by(None)


@pytest.mark.parametrize("name", ["200 kB of compact JSON", "4 MiB of tokens", "4 MiB of words"])
async def test_no_step_of_the_console_takes_100_ms(
    core: Core, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    core.configure('profile = "strict"\n')
    core.start()
    steps_s: list[float] = []
    run = asyncio.events.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began_s = time.thread_time()
        run(handle)
        steps_s.append(time.thread_time() - began_s)

    longest_s = []
    async with console(core) as hands:
        monkeypatch.setattr(asyncio.events.Handle, "_run", timed)
        for number in range(ROUNDS):
            steps_s.clear()
            with await asyncio.to_thread(asked, core, HOSTILE[name](number)):
                await hands.until(lambda: len(hands.app.bridge.state.pending) == 1)
                await hands.settle()
                await hands.press("j")
                await hands.settle()
            await hands.until(lambda: not hands.app.bridge.state.pending)
            longest_s.append(max(steps_s))
    assert min(longest_s) < LIMIT_S, longest_s
