"""One call, one card: what several connections and lanes of one call, or of equal ones, get."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import ONLY_DENIES, other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.model.events import Can, Lane, Tool
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing

CODEX: dict[str, Any] = {"agent": "codex", "can": ONLY_DENIES}


def gates(world: World) -> list[str]:
    return [record.data["gate"] for record in world.records if record.kind.startswith("tool.p")]


def test_two_identical_parallel_requests_are_two_cards_decided_separately() -> None:
    world = World()
    one, two = world.ask(pre(shell(call_id="c1")), 1), world.ask(pre(shell(call_id="c2")), 2)
    assert one.data.digest == two.data.digest
    world.decide(two, "deny")
    world.allow(one)
    assert (world.reply(1), type(world.reply(2))) == (SayAllow(), SayDeny)


def test_two_identical_requests_without_call_ids_are_two_cards() -> None:
    world = World()
    one, two = world.ask(pre(shell()), 1), world.ask(pre(shell()), 2)
    world.allow(one)
    assert world.reply(1) == SayAllow()
    assert world.pending == {two.id}


def test_ap_9_a_request_comes_while_another_of_its_session_waits() -> None:
    world = World()
    one, two = world.ask(pre(shell("high a", "a")), 1), world.ask(pre(shell("high b", "b")), 2)
    assert world.pending == {one.id, two.id}
    assert world.state.sessions["claude", "one"].pending == 2


def test_ap_19_other_sessions_go_on_while_a_request_waits() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert world.send(pre(shell("low", "x"), session="two"), 2) == ["tool.pre", "hook.trace"]
    assert world.reply(2) == SayNothing()
    assert world.send(post(shell("low", "x"), session="two")) == ["tool.post"]
    assert world.pending == {request.id}


def test_the_gate_is_told_the_allow_where_the_agent_takes_it() -> None:
    world = World()
    world.allow(world.ask(pre(), 1))
    assert world.reply(1) == SayAllow()


def test_a_gate_that_cannot_be_told_allow_hands_back_and_the_relay_carries_it() -> None:
    world = World()
    request = world.ask(pre(shell(call_id="c1"), **CODEX), 1)
    assert request.data.once_allowed == "runs-or-asks"
    world.allow(request)
    assert world.reply(1) == SayNothing()
    world.send(permission(shell(description="why"), agent="codex", races=False), 2)
    assert world.reply(2) == SayAllow()
    assert gates(world) == ["held", "carried"]
    assert world.records[-1].request == request.id
    assert len(world.all("approval.decided")) == 1


def test_the_relay_takes_a_carried_decision_once() -> None:
    world = World()
    world.allow(world.ask(pre(shell(call_id="c1"), **CODEX), 1))
    world.send(permission(agent="codex"), 2)
    again = world.ask(permission(agent="codex"), 3)
    assert world.pending == {again.id}


@pytest.mark.parametrize(("decision", "said"), [("deny", SayDeny), ("handback", SayNothing)])
def test_every_decision_of_the_operator_is_carried(decision: str, said: type) -> None:
    world = World()
    world.decide(world.ask(pre(), 1), decision)  # type: ignore[arg-type]
    world.send(permission(), 2)
    assert isinstance(world.reply(2), said)


def test_the_relay_of_an_allowed_call_does_not_join_its_waiting_twin() -> None:
    world = World()
    one, two = (world.ask(pre(shell(call_id=c), **CODEX), n) for n, c in enumerate("ab"))
    world.allow(one)
    world.send(permission(agent="codex"), 7)
    assert world.reply(7) == SayAllow()
    assert world.pending == {two.id}


def test_the_relay_of_a_call_handed_back_does_not_take_the_allow_of_its_twin() -> None:
    world = World()
    allowed = world.ask(pre(shell(call_id="a")), 1)
    handed_back = world.ask(pre(shell(call_id="b")), 2)
    world.allow(allowed)
    world.decide(handed_back, "handback")
    world.send(permission(), 3)
    assert world.reply(3) == SayNothing(), "an agent that was told allow does not ask"


def test_an_allow_is_never_carried_to_another_tool_with_the_same_input() -> None:
    def tool(name: str, call_id: str | None = None) -> Tool:
        return Tool(name, f"mcp__{name}", "mcp", {"command": "high"}, "equal", call_id)

    world = World()
    world.allow(world.ask(pre(tool("get", "c1")), 1))
    other = world.ask(permission(tool("delete")), 2)
    assert world.pending == {other.id}


def test_a_carried_decision_ends_with_its_call() -> None:
    world = World()
    world.allow(world.ask(pre(shell(call_id="c1")), 1))
    world.send(post(shell(call_id="c1")))
    world.ask(permission(), 2)


def test_a_call_that_the_policy_handed_back_gets_its_own_card_on_the_relay() -> None:
    world = World()
    world.send(pre(shell("medium", "c1")), 1)
    assert world.reply(1) == SayNothing()
    request = world.ask(permission(shell("medium")), 2)
    assert (request.call, request.data.silence) == ("c1", "handback")


def test_one_call_over_two_connections_is_one_request_answered_on_both() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert world.ask(pre(), 2) is request
    world.allow(request)
    assert (world.reply(1), world.reply(2)) == (SayAllow(), SayAllow())
    assert gates(world) == ["held", "joined"]


def test_the_second_connection_of_a_decided_call_is_answered_like_the_first() -> None:
    world = World()
    world.decide(world.ask(pre(), 1), "deny", reason="no")
    world.send(pre(), 2)
    assert world.reply(2) == world.reply(1)


def test_a_connection_that_waits_less_long_brings_the_deadline_forward() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.ask(pre(deadline_s=65), 2)
    assert request.deadline_s == world.now.mono_s + 60
    assert world.state.pending[request.id].data.deadline_at == world.now.plus(60).wall_us


def test_ap_13_a_rewritten_call_is_asked_again() -> None:
    world = World()
    world.allow(world.ask(pre(shell("high a", "c1")), 1))
    again = world.ask(pre(shell("high b", "c1")), 2)
    assert world.pending == {again.id}
    assert 2 not in world.replies


def test_ap_13_the_allow_of_the_old_input_says_nothing_about_the_new_one() -> None:
    world = World()
    old = world.ask(pre(shell("high a", "c1")), 1)
    new = world.ask(pre(shell("high b", "c1")), 2)
    world.allow(old)
    assert world.pending == {new.id}
    assert world.ask(permission(shell("high b")), 3) is new


def test_ap_13_the_same_call_in_another_folder_is_asked_again() -> None:
    world = World()
    world.allow(world.ask(pre(shell(call_id="c1")), 1))
    world.ask(pre(shell(call_id="c1"), cwd="/"), 2)


def test_ap_17_a_handback_is_offered_and_tells_the_agent_nothing() -> None:
    world = World()
    request = world.ask(pre(runs_unasked=True), 1)
    world.decide(request, "handback")
    assert world.reply(1) == SayNothing()
    assert world.ending(request)["word"] == "handed-back-by-operator"


def test_a_rule_denies_at_once_on_every_lane_that_waits() -> None:
    for lane in (Lane.GATE, Lane.GATE_READ):
        world = World()
        world.send(pre(shell("deny x", "c1"), lane=lane), 1)
        assert world.reply(1) == SayDeny(
            "A rule denied this call: it says deny. Do not try another way; stop and report."
        )
        assert world.all("tool.pre")[0].data["word"] == "denied-by-rule"


def test_an_observed_call_is_recorded_and_not_answered() -> None:
    world = World("watch")
    assert world.send(pre(shell("deny", "c1"), lane=Lane.OBSERVE)) == ["tool.pre"]
    assert (gates(world), world.replies) == (["recorded"], {})


def test_an_event_that_asks_nothing_is_let_go_on_a_waiting_lane() -> None:
    world = World()
    world.send(other("notice", Lane.GATE), 4)
    assert world.reply(4) == SayNothing()


def test_ap_17_nobody_is_asked_about_a_call_that_the_agent_cannot_be_told_anything_about() -> None:
    world = World()
    world.send(permission(shell("high"), can=Can()), 1)

    assert world.reply(1) == SayNothing()
    assert world.all("approval.requested") == []
    assert gates(world) == ["handback"]
