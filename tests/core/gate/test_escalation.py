"""Somebody else is told of a request that nobody answers: when, once, never of a settled one."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import START, pre
from tests.core.world import World
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.core.gate.broker import DueEscalation, Escalations
from watchgate.core.model.assessment import Risk, severity
from watchgate.core.model.requests import ApprovalRequest, Status


def entry(name: str = "ana", **said: Any) -> EscalationConfig:
    return EscalationConfig(name=name, url="http://127.0.0.1:1/", **said)


def due(escalations: Escalations, world: World, *, attended: bool = False) -> list[DueEscalation]:
    return escalations.due(world.broker.open.values(), attended=attended, now=world.now)


def told(found: list[DueEscalation]) -> list[tuple[str, str]]:
    return [(each.request, each.entry.name) for each in found]


def test_a_request_is_told_once_its_time_is_up_and_only_once() -> None:
    world, escalations = World(), Escalations([entry(after_s=60)])
    request = world.ask(pre(), 1)
    world.advance(59.9)
    assert due(escalations, world) == []
    world.advance(0.1)
    assert told(due(escalations, world)) == [(request.id, "ana")]
    world.advance(100)
    assert due(escalations, world) == []


def test_it_is_told_to_everybody_whose_time_is_up() -> None:
    world = World()
    escalations = Escalations([entry(after_s=0), entry("ben", after_s=30), entry("cy", after_s=30)])
    request = world.ask(pre(), 1)
    assert told(due(escalations, world)) == [(request.id, "ana")]
    world.advance(30)
    assert told(due(escalations, world)) == [(request.id, "ben"), (request.id, "cy")]


def test_a_request_that_was_answered_is_told_to_nobody() -> None:
    world, escalations = World(), Escalations([entry(after_s=60)])
    request = world.ask(pre(), 1)
    world.decide(request, "deny")
    world.advance(60)
    assert due(escalations, world) == []


def test_an_answer_on_its_way_to_the_disk_is_an_answer() -> None:
    world, escalations = World(), Escalations([entry(after_s=0)])
    request = world.ask(pre(), 1)
    world.decide(request, "allow")
    assert request.status is Status.COMMITTING
    assert due(escalations, world) == []


def test_with_a_console_attached_only_those_are_told_who_always_want_to_be() -> None:
    world = World()
    escalations = Escalations([entry(after_s=10), entry("ben", after_s=10, when="always")])
    request = world.ask(pre(), 1)
    world.advance(20)
    assert told(due(escalations, world, attended=True)) == [(request.id, "ben")]


def test_when_the_last_console_leaves_what_waited_long_enough_is_told_at_once() -> None:
    world, escalations = World(), Escalations([entry(after_s=10)])
    request = world.ask(pre(), 1)
    world.advance(20)
    assert due(escalations, world, attended=True) == []
    (found,) = due(escalations, world)
    assert (found.request, found.waited_s) == (request.id, 20)


def test_a_risk_that_nobody_could_judge_counts_as_high() -> None:
    world, escalations = World(), Escalations([entry(after_s=0, min_risk="high")])
    unknown = asked("unknown", "a")
    assert escalations.due([unknown], attended=False, now=world.now)
    critical = Escalations([entry(after_s=0, min_risk="critical")])
    assert not critical.due([unknown], attended=False, now=world.now)


WORLD = World()
OPEN = WORLD.ask(pre(), 1)


def asked(risk: Risk, id: str, ago_s: float = 0.0) -> ApprovalRequest:
    """An open request of that risk, which came so long before the start."""
    data = msgspec.structs.replace(OPEN.data, risk=risk)
    return msgspec.structs.replace(OPEN, id=id, data=data, opened=START.plus(-ago_s))


RISKS: tuple[Risk, ...] = ("low", "medium", "high", "critical", "unknown")


@given(
    waits=st.lists(st.tuples(st.sampled_from(RISKS), st.floats(0, 200)), min_size=1, max_size=4),
    entries=st.lists(
        st.tuples(
            st.sampled_from(("low", "medium", "high", "critical")),
            st.integers(0, 200),
            st.sampled_from(("unattended", "always")),
        ),
        min_size=1,
        max_size=3,
    ),
    looks=st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=6),
)
def test_nobody_is_told_twice_too_early_or_of_a_lesser_risk(
    waits: list[tuple[Risk, float]], entries: list[Any], looks: list[tuple[int, bool]]
) -> None:
    requests = [asked(risk, f"r{n}", ago_s) for n, (risk, ago_s) in enumerate(waits)]
    configured = [
        entry(f"e{n}", min_risk=risk, after_s=after_s, when=when)
        for n, (risk, after_s, when) in enumerate(entries)
    ]
    escalations, now, seen = Escalations(configured), START, set[tuple[str, str]]()
    for seconds, attended in looks:
        now = now.plus(seconds)
        for found in escalations.due(requests, attended=attended, now=now):
            request = next(each for each in requests if each.id == found.request)
            assert (found.request, found.entry.name) not in seen
            seen.add((found.request, found.entry.name))
            assert found.waited_s == now.mono_s - request.opened.mono_s >= found.entry.after_s
            assert not (attended and found.entry.when == "unattended")
            if request.data.risk != "unknown":
                assert severity(request.data.risk) >= severity(found.entry.min_risk)
        for each in requests:
            for wanted in configured:
                rank = severity("high" if each.data.risk == "unknown" else each.data.risk)
                waited = now.mono_s - each.opened.mono_s >= wanted.after_s
                here = not attended or wanted.when == "always"
                if rank >= severity(wanted.min_risk) and waited and here:
                    assert (each.id, wanted.name) in seen
