"""The demo of a console: a first request soon, a place of its own, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.programs import until
from tests.ui.fake_source import FakeClock
from watchgate.demo.demo_script import script
from watchgate.demo.live import DemoClock, demo_core
from watchgate.link.core_socket import call_once
from watchgate.link.protocol import Request, Result


def _recorded(socket: Path, kind: str) -> bool:
    """Whether there was one: at this speed none lasts until the next look."""
    answer = call_once(socket, Request(id=1, verb="history", from_seq=1))
    assert isinstance(answer, Result)
    return any(record["kind"] == kind for record in answer.ok["records"])


def test_the_demo_runs_in_a_directory_of_its_own_and_leaves_nothing() -> None:
    user = Path(os.environ["WATCHGATE_STATE_DIR"])
    # Its hooks have 5 s by the demo's clock: faster, and a busy machine takes longer than that.
    with demo_core(speed=20) as (paths, _):
        root = paths.runtime_dir.parent
        until(lambda: _recorded(paths.control_socket, "session.start"), "a session")
        until(lambda: _recorded(paths.control_socket, "approval.requested"), "a request")
    assert not root.exists()
    assert not user.exists()


@given(
    st.sampled_from([0.5, 1.0, 4.0, 20.0]),
    st.floats(min_value=0, max_value=200),
    st.floats(min_value=0, max_value=200),
)
def test_its_clock_never_stands_and_tells_the_real_time_until_a_step(
    speed: float, real_s: float, at_s: float
) -> None:
    real = FakeClock(0)
    clock = DemoClock(speed, real)
    real.advance(real_s)
    left_s = clock.real_s(at_s)
    if left_s > 0:
        real.advance(left_s)
        assert clock.now().mono_s == pytest.approx(at_s, abs=1e-6)
    else:
        assert clock.now().mono_s >= at_s - 1e-6


def test_the_first_request_comes_within_five_seconds() -> None:
    risky = [step.at_s for step in script() if "--force" in str(step.payload)]
    assert DemoClock(1.0, FakeClock(0)).real_s(min(risky)) <= 5
