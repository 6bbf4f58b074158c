"""An allow is on disk before the agent hears it, or the agent never hears it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.builders import permission, post, pre, shell
from tests.core.world import World
from watchgate.core.gate.broker import SETTLED_MAX
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing


def test_ap_14_an_allow_waits_for_the_disk() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert world.decide(request, "allow") == ["approval.decided"]
    assert (world.commits, world.replies) == ([request.id], {})
    world.commit()
    assert world.reply(1) == SayAllow()


@pytest.mark.parametrize("decision", ["deny", "handback"])
def test_a_denial_and_a_handback_wait_for_nothing(decision: str) -> None:
    world = World()
    world.decide(world.ask(pre(), 1), decision)  # type: ignore[arg-type]
    assert (len(world.replies[1]), world.commits) == (1, [])


Fault = Callable[[World], object]
FAULTS: list[tuple[Fault, str, str]] = [
    (lambda world: world.commit(ok=False), "denied-no-journal", "handed-back"),
    (lambda world: world.advance(300), "denied-by-timeout", "handed-back-by-timeout"),
    (
        lambda world: world.do(world.engine.close_all("denied-core-stopped", "bye", world.now)),
        "denied-core-stopped",
        "handed-back",
    ),
]


@pytest.mark.parametrize(("fault", "gate", "relay"), FAULTS)
def test_ap_14_an_allow_that_cannot_be_told_ends_as_silence_would(
    fault: Fault, gate: str, relay: str
) -> None:
    world = World()
    one, two = world.ask(pre(), 1), world.ask(permission(shell("high y"), deadline_s=305), 2)
    world.decide(one, "allow")
    world.decide(two, "allow")
    fault(world)
    world.commit()
    assert isinstance(world.reply(1), SayDeny)
    assert world.reply(2) == SayNothing()
    words = [world.all("effect.undelivered", request)[0].data["word"] for request in (one, two)]
    assert words == [gate, relay]
    assert len(world.all("approval.decided")) == 2
    assert world.state.totals.allowed_by_operator == 0
    assert world.state.last is not None
    assert world.state.last.word == relay


def test_ap_14_a_commit_after_the_deadline_is_denied_and_says_why() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "allow")
    world.now = world.now.plus(300)
    world.commit()
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    assert reply.reason.startswith("An operator's allow came too late")
    assert world.all("effect.undelivered")[0].data["word"] == "denied-by-timeout"


def test_ap_14_a_client_that_hangs_up_meanwhile_is_told_nothing() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "allow")
    assert world.hang_up(1) == ["effect.undelivered"]
    assert (world.commit(), world.replies) == ([], {})
    assert world.all("effect.undelivered", request)[0].data["word"] == "withdrawn"
    assert world.state.rows[0].stage == "withdrawn"


def test_ap_14_an_undone_allow_is_carried_to_no_other_lane() -> None:
    world = World()
    world.decide(world.ask(pre(), 1), "allow")
    world.commit(ok=False)
    assert world.ask(permission(), 2).id


@pytest.mark.parametrize("told", [True, False])
def test_ap_14_what_became_of_an_answer_is_recorded(told: bool) -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.allow(request)
    kind = "effect.sent" if told else "effect.undelivered"
    assert world.do(world.engine.sent(request.id, told, world.now)) == [kind]
    assert world.state.rows[0].stage == ("running" if told else "withdrawn")
    assert world.state.totals.allowed_by_operator == told


def test_a_denial_that_could_not_be_delivered_does_not_count_as_an_allow() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "deny")
    world.do(world.engine.sent(request.id, False, world.now))
    assert world.state.totals.denied_by_operator == 1
    assert world.state.totals.allowed_by_operator == 0


def test_the_report_on_an_answer_of_long_ago_is_passed_over() -> None:
    world = World()
    first = world.ask(pre(), 0)
    world.decide(first, "deny")
    settled = world.broker._settled
    for number in range(SETTLED_MAX):
        settled[str(number)] = first
    settled.popitem(last=False)
    assert world.engine.sent(first.id, True, world.now) == []


def test_a_relay_whose_allow_was_lost_may_still_run_without_an_alarm() -> None:
    world = World()
    world.decide(world.ask(permission(shell(call_id="c1")), 1), "allow")
    world.commit(ok=False)
    world.send(post(shell(call_id="c1")))
    assert world.all("effect.contradicted") == []


def test_a_second_connection_may_join_while_the_disk_is_waited_for() -> None:
    world = World()
    world.decide(world.ask(pre(), 1), "allow")
    world.ask(pre(), 2)
    world.commit()
    assert (world.reply(1), world.reply(2)) == (SayAllow(), SayAllow())
