"""The console's figures say what they count: an absolute one names its unit."""

from __future__ import annotations

import pytest

from bench import console
from watchgate.core.state.state import State


def test_the_tick_is_told_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured(state: State, _ticks: int) -> list[float]:
        return [4.0, 6.0, 5.0] if state.seq == console.ROWS else [2.0, 2.0, 3.0]

    monkeypatch.setattr(console, "_filled", _nothing_but_a_number)
    monkeypatch.setattr(console, "_ticks", measured)
    tick, kept = console.tick_figures(3)
    assert (tick.value, tick.unit, tick.limit_unit) == (5.0, "ms", "ms")
    assert (kept.ratio, kept.limit_unit) == (2.5, "x")


def _nothing_but_a_number(rows: int) -> State:
    state = State()
    state.seq = rows
    return state
