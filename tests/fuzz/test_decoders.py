"""Whatever bytes come from outside, each decoder takes them or refuses them in its own words."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.mutating import inputs
from tests.fuzz.target import Broken, Target, demand
from tests.fuzz.targets import TARGETS

EXAMPLES = 12
NAMES = sorted(TARGETS)
BY_NAME = pytest.mark.parametrize("name", NAMES)


@BY_NAME
def test_its_seeds_are_taken(name: str) -> None:
    assert TARGETS[name].seeds, "a target without seeds is fuzzed blindly"
    for seed in TARGETS[name].seeds:
        assert TARGETS[name].takes(seed), seed


@pytest.mark.parametrize("name", [name for name in NAMES if TARGETS[name].found])
def test_what_it_once_failed_over(name: str) -> None:
    for data in TARGETS[name].found:
        TARGETS[name].takes(data)


@BY_NAME
def test_whatever_comes_is_taken_or_refused(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inputs(target.seeds))
    def run(data: bytes) -> None:
        target.takes(data)

    run()


def planted(data: bytes) -> None:
    """Takes JSON but for one thing that a careless decoder forgets."""
    demand(b"\\ud800" not in data, "half a surrogate pair")


def test_a_planted_fault_is_found() -> None:
    target = Target(feed=planted, seeds=(b'{"a":1,"b":[{"c":"d"}]}',))

    @settings(
        max_examples=3_000, deadline=None, database=None, phases=[Phase.generate], derandomize=True
    )
    @given(inputs(target.seeds))
    def run(data: bytes) -> None:
        target.takes(data)

    with pytest.raises(Broken, match="surrogate"):
        run()


def test_a_refusal_is_told_from_a_fault() -> None:
    def feed(data: bytes) -> None:
        raise {b"r": ValueError, b"f": KeyError}.get(data, Broken)("x")

    target = Target(feed=feed, seeds=(), refusals=(ValueError,))
    assert not target.takes(b"r")
    with pytest.raises(KeyError):
        target.takes(b"f")
    with pytest.raises(Broken):
        target.takes(b"")
