"""The console's figures say what they count: an absolute one names its unit."""

from __future__ import annotations

import pytest

from bench import console


def test_the_tick_is_told_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured(_ticks: int) -> list[float]:
        return [4.0, 6.0, 5.0]

    monkeypatch.setattr(console, "_ticks", measured)
    figure = console.tick_figure(3)
    assert (figure.ratio, figure.unit) == (5.0, "ms")
