from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import START, permission, pre
from watchgate.core.config.config import Approval, Config, Relay
from watchgate.core.gate.core_status import request_limit_s
from watchgate.core.model.events import Event, Lane


def waits(
    event: Event,
    *,
    attended: bool = True,
    key_age_s: float = 0.0,
    after_s: float = 0.0,
    **approval: Any,
) -> float:
    config = Config(approval=Approval(**approval))
    now = START.plus(after_s)
    return request_limit_s(event, config, attended=attended, key_age_s=key_age_s, now=now)


def test_a_gate_waits_longer_when_nobody_watches() -> None:
    assert waits(pre()) == 300
    assert waits(pre(), attended=False) == 3600
    assert waits(pre(), timeout_s=10) == 10


def test_ap_16_the_clients_own_deadline_less_the_margin_clamps() -> None:
    assert waits(pre(deadline_s=100)) == 95
    assert waits(pre(deadline_s=100), margin_s=20) == 80
    assert waits(pre(deadline_s=10_000)) == 300
    assert waits(permission(deadline_s=10)) == 5


def test_time_spent_before_counts() -> None:
    assert waits(pre(), after_s=100) == 200


@pytest.mark.parametrize("lane", [Lane.GATE, Lane.GATE_READ])
def test_a_gate_is_never_handed_back_for_want_of_time(lane: Lane) -> None:
    assert 0 < waits(pre(lane=lane, deadline_s=0)) < 0.1
    assert 0 < waits(pre(lane=lane), after_s=1000) < 0.1


def test_a_client_that_waits_no_longer_than_the_margin_leaves_most_of_its_time() -> None:
    assert waits(pre(deadline_s=4)) == 3
    assert waits(pre(deadline_s=6)) == 1


def test_a_relay_that_races_a_dialog_waits_as_long_as_the_agent() -> None:
    assert waits(permission(deadline_s=3660)) == 3655
    assert waits(permission(deadline_s=3660), attended=False, key_age_s=1e9) == 3655
    assert waits(permission()) == 3600
    assert waits(permission(), relay_timeout_s=Relay(racing=30)) == 30


@pytest.mark.parametrize(
    ("attended", "key_age_s", "limit_s"), [(True, 300, 20), (True, 301, 0), (False, 0, 0)]
)
def test_a_relay_that_hides_the_dialog_waits_only_for_somebody_who_is_there(
    attended: bool, key_age_s: float, limit_s: float
) -> None:
    event = permission(races=False, deadline_s=600)
    assert waits(event, attended=attended, key_age_s=key_age_s) == limit_s


def test_serial_zero_waits_as_long_as_the_agent() -> None:
    event = permission(races=False, deadline_s=600)
    assert waits(event, relay_timeout_s=Relay(serial=0)) == 595


@given(
    deadline_s=st.none() | st.floats(0, 86_400),
    after_s=st.floats(0, 1e5),
    attended=st.booleans(),
    races=st.booleans(),
    lane=st.sampled_from([Lane.GATE, Lane.GATE_READ, Lane.RELAY]),
)
def test_every_wait_ends_and_no_client_is_made_to_wait_past_its_own(
    deadline_s: float | None, after_s: float, attended: bool, races: bool, lane: Lane
) -> None:
    event = pre(lane=lane, deadline_s=deadline_s, races_dialog=races)
    limit_s = waits(event, attended=attended, after_s=after_s)
    assert 0 <= limit_s <= 86_400
    assert limit_s > 0 or lane is Lane.RELAY
    if deadline_s is not None and deadline_s - 5 - after_s > 0.001:
        assert limit_s <= deadline_s - 5 - after_s + 1e-6
