"""What silence does, on which lane, and what it says."""

from __future__ import annotations

import pytest

from tests.core.builders import permission, pre, shell
from tests.core.world import World
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import SayDeny, SayNothing
from watchgate.core.policy.rules.profiles import Profile


def test_ap_2_silence_at_the_gate_denies_and_says_that_it_was_silence() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert world.advance(299.9) == []
    assert world.advance(0.1) == ["approval.timeout", "approval.decided"]
    assert world.reply(1) == SayDeny(
        "Nobody answered in 300 s. This is not a refusal by a person."
        " Do not try another way; stop and report #0001."
    )
    assert world.ending(request)["word"] == "denied-by-timeout"
    assert world.ending(request)["by"] == "nobody"
    assert world.all("approval.timeout")[0].data["deadline_at"] == request.data.deadline_at


def test_silence_ends_the_turn_where_that_is_configured() -> None:
    world = World(on_timeout="deny_and_stop")
    world.ask(pre(), 1)
    world.advance(300)
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    assert reply.stop


@pytest.mark.parametrize(
    ("profile", "lane", "word", "said"),
    [
        ("guard", Lane.GATE, "denied-by-timeout", SayDeny),
        ("guard", Lane.GATE_READ, "handed-back-by-timeout", SayNothing),
        ("strict", Lane.GATE_READ, "denied-by-timeout", SayDeny),
        ("guard", Lane.RELAY, "handed-back-by-timeout", SayNothing),
        ("strict", Lane.RELAY, "handed-back-by-timeout", SayNothing),
    ],
)
def test_ap_2_silence_means_what_the_lane_says(
    profile: Profile, lane: Lane, word: str, said: type
) -> None:
    world = World(profile)
    event = permission() if lane is Lane.RELAY else pre(lane=lane)
    request = world.ask(event, 1)
    shown = world.state.pending[request.id].data.silence
    assert shown == ("deny" if said is SayDeny else "handback")
    world.advance(4000)
    assert isinstance(world.reply(1), said)
    assert world.ending(request)["word"] == word


def test_a_relay_that_joined_a_gate_is_handed_back_when_the_gate_is_denied() -> None:
    world = World()
    world.ask(pre(), 1)
    world.ask(permission(), 2)
    world.advance(300)
    assert isinstance(world.reply(1), SayDeny)
    assert world.reply(2) == SayNothing()


def test_a_gate_that_joined_a_relay_is_still_denied_by_silence() -> None:
    world = World()
    request = world.ask(permission(shell(call_id="c1")), 1)
    world.ask(pre(), 2)
    assert request.deadline_s == world.now.mono_s + 300
    world.advance(300)
    assert world.reply(1) == SayNothing()
    assert isinstance(world.reply(2), SayDeny)
    assert world.ending(request)["word"] == "denied-by-timeout"


def test_a_relay_left_alone_by_its_gate_is_handed_back_and_recorded_so() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.ask(permission(), 2)
    world.hang_up(1)
    world.advance(300)
    assert world.reply(2) == SayNothing()
    assert world.ending(request)["word"] == "handed-back-by-timeout"


def test_ap_3_ap_9_a_long_sleep_expires_everything_at_once_in_the_order_of_deadlines() -> None:
    world = World()
    late = world.ask(pre(shell("high a", "a")), 1)
    early = world.ask(pre(shell("high b", "b"), deadline_s=30), 2)
    world.advance(86_400)
    assert [record.request for record in world.all("approval.decided")] == [early.id, late.id]
    assert world.engine.next_deadline() is None


def test_ap_16_the_broker_gives_up_before_the_hook_client_does() -> None:
    world = World()
    assert world.ask(pre(deadline_s=100), 1).deadline_s == world.now.mono_s + 95


def test_a_client_with_no_time_at_all_is_still_denied_with_a_record() -> None:
    world = World()
    request = world.ask(pre(deadline_s=0), 1)
    world.advance(0.001)
    assert world.ending(request)["word"] == "denied-by-timeout"


def test_a_strict_read_with_no_time_at_all_is_denied_too() -> None:
    world = World("strict")
    world.ask(pre(lane=Lane.GATE_READ, deadline_s=0), 1)
    world.advance(0.001)
    assert isinstance(world.reply(1), SayDeny)


def test_more_time_is_given_and_recorded() -> None:
    world = World()
    request = world.ask(pre(deadline_s=3660), 1)
    world.do(
        world.engine.extended(world.broker.extend(request.id, 60, world.now), "ann", world.now)
    )
    assert world.state.pending[request.id].data.deadline_at == world.now.plus(360).wall_us
    assert world.advance(359) == []
    assert world.advance(1) == ["approval.timeout", "approval.decided"]


def test_ap_16_more_time_stops_short_of_the_moment_at_which_any_client_gives_up() -> None:
    world = World()
    request = world.ask(pre(deadline_s=400), 1)
    world.ask(pre(deadline_s=330), 2)
    came = world.now
    world.advance(10)
    world.broker.extend(request.id, 1000, world.now)
    assert request.deadline_s == came.mono_s + 325
    with pytest.raises(Refused, match="no longer") as refused:
        world.broker.extend(request.id, 1, world.now)
    assert refused.value.code == "too_late"


def test_no_more_time_once_the_deadline_has_passed() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.now = world.now.plus(300)
    with pytest.raises(Refused) as refused:
        world.broker.extend(request.id, 60, world.now)
    assert refused.value.code == "too_late"


def test_ap_4_a_hang_up_withdraws_and_a_late_key_does_nothing() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert world.hang_up(1) == ["approval.decided"]
    assert world.ending(request)["word"] == "withdrawn"
    assert (world.replies, world.pending, world.state.pending) == ({}, set(), {})
    with pytest.raises(Refused) as refused:
        world.decide(request, "allow")
    assert refused.value.code == "already_settled"
    assert world.hang_up(1) == world.hang_up(99) == []


def test_a_request_lives_as_long_as_one_of_its_connections() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.ask(pre(), 2)
    assert world.hang_up(1) == []
    world.decide(request, "deny")
    assert list(world.replies) == [2]
