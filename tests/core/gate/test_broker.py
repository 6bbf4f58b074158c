from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import BELOW, ONLY_DENIES, permission, pre, shell, sub
from tests.core.world import World
from watchgate.core.gate import broker
from watchgate.core.gate.operator_decisions import ARMED_AFTER_MS, Refused
from watchgate.core.model.events import OwnRules
from watchgate.core.model.verdicts import SayDeny


def refused(world: World, request: Any, decision: Any, **more: Any) -> Refused:
    before = (request.status, request.settlement, len(world.records))
    with pytest.raises(Refused) as caught:
        world.decide(request, decision, **more)
    assert (request.status, request.settlement, len(world.records)) == before
    return caught.value


def test_ap_1_a_request_holds_everything_a_person_needs() -> None:
    world = World()
    tool = shell("high x", "c1", description="a word")
    request = world.ask(pre(tool, mode="auto", sub=sub()), 1)
    data = msgspec.convert(world.all("approval.requested", request)[0].data, type(request.data))
    assert data == request.data
    assert (data.tool, data.summary, data.cwd, data.mode) == (tool, "high x", "/home/u/app", "auto")
    assert (data.risk, data.rule, data.reason) == ("high", "test.rule", "it says high")
    assert data.offered == ("allow", "deny", "handback", "edit", "stop")
    assert data.silence == "deny"
    assert request.deadline_s == world.now.mono_s + 300
    assert data.deadline_at == world.now.plus(300).wall_us
    view = world.state.pending[request.id]
    assert (view.agent, view.session, view.call) == ("claude", "one", "c1")


def test_ap_5_the_first_answer_wins_and_the_second_is_told_who_it_was() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "deny", by="operator ann", reason="no")
    late = refused(world, request, "allow", by="operator bob")
    assert late.code == "already_settled"
    assert "operator ann" in str(late)
    assert late.settlement == request.settlement
    assert world.reply(1) == SayDeny("An operator denied this call: no")


def test_ap_5_an_allow_on_its_way_to_the_disk_is_settled_for_everybody_else() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "allow")
    assert refused(world, request, "deny").code == "already_settled"
    with pytest.raises(Refused):
        world.broker.extend(request.id, 5, world.now)


def test_ap_6_only_what_was_offered_is_taken() -> None:
    world = World()
    request = world.ask(pre(), 1)
    request.data = msgspec.structs.replace(request.data, offered=("deny",))
    assert refused(world, request, "allow").code == "not_offered"
    assert refused(world, request, "handback").code == "not_offered"
    assert world.pending == {request.id}


def test_ap_6_a_turn_is_ended_only_where_the_agent_can_be_told_so() -> None:
    world = World()
    request = world.ask(pre(can=ONLY_DENIES), 1)
    assert request.data.offered == ("allow", "deny", "handback")
    assert refused(world, request, "deny", stop=True).code == "not_offered"
    assert request.open


def test_ap_6_a_scope_that_was_not_offered_is_refused() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert refused(world, request, "allow", scope="session").code == "not_offered"
    assert refused(world, request, "deny", scope="session").code == "bad_request"
    assert refused(world, request, "allow", stop=True).code == "bad_request"


def test_ap_9_every_request_is_kept_in_its_order_and_the_first_deadline_ends_first() -> None:
    world = World()
    first = world.ask(pre(shell("high a", "a")), 1)
    second = world.ask(pre(shell("high b", "b"), deadline_s=60), 2)
    third = world.ask(pre(shell("high c", "c"), session="two"), 3)
    assert list(world.broker.open) == [first.id, second.id, third.id]
    assert [view.id for view in world.state.by_deadline()] == [second.id, first.id, third.id]
    assert world.broker.next_deadline() == second.deadline_s
    assert world.broker.due(world.now.plus(400)) == [second, first, third]


def test_ap_11_the_digest_is_that_of_what_was_shown() -> None:
    world = World()
    request, other = world.ask(pre(), 1), world.ask(pre(shell("high y", "c2")), 2)
    assert refused(world, request, "allow", digest=other.data.digest).code == "digest_mismatch"
    assert refused(world, request, "deny", digest="0" * 64).code == "digest_mismatch"
    assert refused(world, request, "allow", digest=None).code == "bad_request"
    world.decide(request, "deny", digest=None)
    assert world.pending == {other.id}


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "codex"},
        {"session": "two"},
        {"sub": sub()},
        {"cwd": "/"},
        {"tool": shell("high", "c1", timeout=5)},
    ],
)
def test_ap_12_the_digest_covers_everything_that_says_what_runs(change: dict[str, Any]) -> None:
    one, same, changed = (World().ask(event, 1) for event in (pre(), pre(), pre(**change)))
    assert len(one.data.digest) == 64
    assert one.data.digest == same.data.digest
    assert one.data.digest != changed.data.digest


def test_ap_18_every_decision_says_who_when_and_after_how_long() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.advance(12.5)
    world.decide(request, "deny", by="operator ann (console 2)", reason="not now")
    record = world.all("approval.decided", request)[0]
    assert record.at == world.now.wall_us
    assert record.data == {
        "word": "denied-by-operator",
        "by": "operator ann (console 2)",
        "waited_s": 12.5,
        "reason": "not now",
        "digest": request.data.digest,
    }


@pytest.mark.parametrize("decision", ["allow", "handback"])
def test_a_client_below_the_agent_may_only_deny(decision: str) -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert refused(world, request, decision, proof=BELOW).code == "self_approval"
    world.decide(request, "deny", proof=BELOW)
    assert isinstance(world.reply(1), SayDeny)


def test_ap_10_an_allow_too_soon_after_it_was_shown_or_unconfirmed_is_not_armed() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert refused(world, request, "allow", shown_ms=ARMED_AFTER_MS - 1).code == "not_armed"
    assert refused(world, request, "allow", confirmed=False).code == "not_armed"
    world.decide(request, "allow", shown_ms=ARMED_AFTER_MS)


def test_ap_6_only_an_answer_has_answers() -> None:
    world = World()
    request = world.ask(pre(), 1)
    assert refused(world, request, "allow", answers=(("yes",),)).code == "bad_request"


@pytest.mark.parametrize("risk", ["high", "critical", "unknown"])
def test_ap_10_what_is_grave_or_not_known_needs_a_second_look(risk: str) -> None:
    world = World("strict")
    request = world.ask(pre(shell(f"{risk} x", "c1")), 1)
    assert request.data.risk == risk
    assert refused(world, request, "allow", confirmed=False).code == "not_armed"


def test_ap_10_ap_17_a_handback_is_armed_only_where_the_agent_would_run_it() -> None:
    world = World()
    asks, runs = world.ask(pre(), 1), world.ask(pre(shell("high y", "c2"), runs_unasked=True), 2)
    assert refused(world, runs, "handback", confirmed=False).code == "not_armed"
    assert refused(world, runs, "handback", shown_ms=5).code == "not_armed"
    world.decide(asks, "handback", confirmed=False, shown_ms=5)
    world.decide(runs, "deny", confirmed=False, shown_ms=5)
    assert world.pending == set()


def test_a_handback_is_armed_where_the_agents_own_rules_may_run_the_call() -> None:
    """Codex in its default mode asks only to leave its sandbox, so what it is handed back runs."""
    world = World()
    rules = OwnRules("confined", "runs-or-asks")
    request = world.ask(pre(own_rules=rules, mode="default"), 1)
    assert request.data.own_rules == rules
    assert refused(world, request, "handback", confirmed=False).code == "not_armed"
    world.decide(request, "handback")
    assert world.state.sessions["claude", "one"].asks_there == ()


def test_a_medium_request_needs_no_confirmation() -> None:
    world = World("strict")
    world.decide(world.ask(pre(shell("medium", "c1")), 1), "allow", confirmed=False)


def test_ap_3_a_decision_at_or_after_the_deadline_is_too_late() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.now = world.now.plus(300)
    assert refused(world, request, "allow").code == "too_late"
    assert refused(world, request, "deny").code == "too_late"


def test_a_relay_request_says_that_silence_hands_back() -> None:
    assert World().ask(permission(), 1).data.silence == "handback"


def test_settled_requests_are_kept_as_far_as_their_inputs_leave_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker, "SETTLED_BYTES", 25_000)
    world = World()
    asked = [world.ask(pre(shell(f"high {'x' * 10_000}", f"c{n}")), n) for n in range(3)]
    for request in asked:
        world.decide(request, "deny")
    assert [world.broker.get(request.id) for request in asked] == [None, *asked[1:]]
    enormous = world.ask(pre(shell(f"high {'x' * 30_000}", "c9")), 9)
    world.decide(enormous, "deny")
    assert isinstance(world.reply(9), SayDeny)
    small = world.ask(pre(shell("high", "c10")), 10)
    world.decide(small, "deny")
    assert world.broker.get(small.id) is small
