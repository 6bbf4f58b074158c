"""A call that takes too long to judge is not understood, and so nothing allows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.policy.calls import judge_command, judge_tool
from watchgate.core.base.patterns import allowance
from watchgate.core.policy.rules.profiles import gate_action


@pytest.fixture
def slow_clock() -> Iterator[None]:
    """Each look at the clock takes a millisecond of processor time."""
    now_ns = iter(range(0, 10**15, 1_000_000))
    allowance.measure_by(lambda: next(now_ns))
    yield
    allowance.measure_by(None)


def test_one_text_has_fifty_milliseconds() -> None:
    assert allowance.ALLOWED_NS == 45_000_000


def test_a_short_call_is_judged_in_its_time(slow_clock: None) -> None:
    assert judge_command("ls -l").decision == "allow"


def test_a_call_that_takes_longer_is_not_understood(slow_clock: None) -> None:
    found = judge_command("ls;" * 200)

    assert (found.decision, found.risk, found.opaque) == ("ask", "unknown", True)
    assert found.rule == "call.spent"
    assert found.segments == ()


def test_it_is_held_where_nobody_sits_and_no_rule_allows_it(slow_clock: None) -> None:
    found = judge_command("ls;" * 200)

    for auto_allow in (False, True):
        action = gate_action(
            "guard", found, autonomous=True, runs_unasked=True, auto_allow=auto_allow
        )
        assert action == "hold"


def test_a_path_that_is_too_long_to_be_looked_at_is_not_understood() -> None:
    found = judge_tool("Write", "edit", {"file_path": "/" + "a/" * 40_000, "content": "x"})

    assert (found.risk, found.opaque, found.rule) == ("unknown", True, "call.spent")


def test_a_text_that_is_nested_deeper_than_a_reader_goes_is_not_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("watchgate.core.policy.judging.assess.assess_shell", too_deep)

    found = judge_command("ls")

    assert (found.decision, found.risk, found.opaque) == ("ask", "unknown", True)
    assert "nested" in found.reason
