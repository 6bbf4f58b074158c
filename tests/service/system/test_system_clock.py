from __future__ import annotations

import sys
import time

import pytest

from watchgate import client
from watchgate.core.base.clock import Clock, Instant
from watchgate.service.system.system_clock import FakeClock, SystemClock


def test_the_system_clock_tells_utc_and_never_runs_backwards() -> None:
    clock: Clock = SystemClock()
    first, second = clock.now(), clock.now()
    assert first.wall_us / 1e6 == pytest.approx(time.clock_gettime(time.CLOCK_REALTIME), abs=5)
    assert second.mono_s >= first.mono_s


@pytest.mark.skipif(sys.platform != "linux", reason="the clock is Linux's")
def test_deadlines_count_time_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine that never slept both clocks tell the same, so it matters which one is asked."""
    told = {time.CLOCK_BOOTTIME: 5.0}
    monkeypatch.setattr(time, "clock_gettime", told.__getitem__)
    assert SystemClock().now().mono_s == 5.0
    assert client.CLOCK == time.CLOCK_BOOTTIME


def test_the_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock(Instant(1_000_000, 10.0))
    assert clock.now() == clock.now() == Instant(1_000_000, 10.0)
    assert clock.advance(2.5) == clock.now() == Instant(3_500_000, 12.5)
