"""The table of what ends a request, and how one is found again."""

from __future__ import annotations

import itertools

import pytest

from tests.core.builders import ONLY_DENIES, pre, shell
from tests.core.world import World
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.requests import TRANSITIONS, Input, Status


def test_a_request_is_found_by_any_unique_prefix_of_four() -> None:
    world = World()
    one, two = world.ask(pre(), 1), world.ask(pre(shell("high y", "c2")), 2)
    assert world.broker.find("0001") is one
    assert world.broker.find(two.id) is two
    for prefix in ("000", "9999", ""):
        with pytest.raises(Refused, match="no request"):
            world.broker.find(prefix)
    world.decide(one, "deny")
    assert world.broker.find("0001k") is one


def test_an_ambiguous_prefix_is_refused() -> None:
    world = World()
    for number in range(10_000, 10_002):
        request = world.ask(pre(shell("high", f"c{number}"), can=ONLY_DENIES), number)
        del world.broker.open[request.id]
        request.id = str(number).ljust(26, "z")
        world.broker.add(request)
    with pytest.raises(Refused, match="fits 2 requests"):
        world.broker.find("1000")


@pytest.mark.parametrize(("status", "event"), itertools.product(Status, Input))
def test_every_end_absorbs_whatever_comes_after(status: Status, event: Input) -> None:
    target = TRANSITIONS.get((status, event))
    if status in (Status.PENDING, Status.COMMITTING):
        assert target is None or target is not Status.PENDING
        assert target is not Status.ALLOWED or (status, event) == (
            Status.COMMITTING,
            Input.COMMITTED,
        )
    else:
        assert target is None
