"""An operator's edit: what runs is what was allowed, judged again, under a digest of its own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import BELOW, ONLY_DENIES, post, pre, shell
from tests.core.world import World
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.model.verdicts import SayAllow, SayDeny

SAFE = {"command": "low x"}


def held(world: World, command: str = "high x") -> ApprovalRequest:
    return world.ask(pre(shell(command, "c1")), 1)


def refusal(world: World, request: ApprovalRequest, args: dict[str, Any], **more: Any) -> Refused:
    records = len(world.records)
    with pytest.raises(Refused) as refused:
        world.edit(request, args, **more)
    assert request.status is Status.PENDING
    assert len(world.records) == records
    return refused.value


def test_the_agent_is_told_the_edited_input_once_it_is_on_disk() -> None:
    world = World()
    world.edit(held(world), SAFE)
    assert 1 not in world.replies
    world.commit()
    reply = world.reply(1)
    assert isinstance(reply, SayAllow)
    assert reply.input == SAFE


def test_the_edited_call_is_a_request_of_its_own_that_names_the_first() -> None:
    world = World()
    first = held(world)
    second = world.edit(first, SAFE)
    assert second.id != first.id
    assert second.data.digest != first.data.digest
    assert (second.data.edited_from, second.data.before) == (first.id, {"command": "high x"})
    assert second.data.tool.input == SAFE
    assert (second.data.risk, first.data.risk) == ("low", "high")
    assert world.ending(first)["word"] == "edited-by-operator"
    assert world.ending(second)["word"] == "allowed-by-operator"


def test_the_deadline_of_the_first_one_stays_in_force() -> None:
    world = World(timeout_s=30)
    request = held(world)
    world.advance(29)
    edited = world.edit(request, SAFE)
    world.advance(2)
    assert isinstance(world.reply(1), SayDeny)
    assert edited.ending.word == "denied-by-timeout"


def test_the_digest_may_be_that_of_what_it_becomes() -> None:
    world = World()
    request = held(world)
    meant = world.engine.edited(request, SAFE)
    world.edit(request, SAFE, digest=meant.data.digest)
    world.commit()
    reply = world.reply(1)
    assert isinstance(reply, SayAllow)
    assert reply.input == SAFE


def test_any_other_digest_is_refused() -> None:
    world = World()
    assert refusal(world, held(world), SAFE, digest="0" * 64).code == "digest_mismatch"


def test_an_edit_to_something_grave_needs_the_second_look() -> None:
    world = World()
    request = held(world, "high x")
    grave = {"command": "critical x"}
    assert refusal(world, request, grave, confirmed=False).code == "not_armed"
    world.edit(request, grave, confirmed=True)


def test_an_edit_to_what_a_rule_denies_is_refused() -> None:
    world = World()
    found = refusal(world, held(world), {"command": "deny x"})
    assert found.code == "not_offered"
    assert "a rule denies the edited call" in str(found)


def test_an_agent_that_takes_no_other_input_cannot_be_sent_one() -> None:
    world = World()
    request = world.ask(pre(shell("high x", "c1"), can=ONLY_DENIES), 1)
    assert "edit" not in request.data.offered
    assert "deny with a reply" in str(refusal(world, request, SAFE))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"command": "high x"}, "not changed"),
        ({"command": "low x", "cwd": "/"}, "the call has no cwd"),
        ({"command": "low \ud800"}, "cannot be sent"),
    ],
)
def test_an_input_that_is_none_is_refused_and_says_why(args: dict[str, Any], says: str) -> None:
    world = World()
    assert says in str(refusal(world, held(world), args))


def test_who_may_only_deny_may_not_edit() -> None:
    world = World()
    assert refusal(world, held(world), SAFE, proof=BELOW).code == "self_approval"


def test_no_grant_comes_of_an_edit() -> None:
    world = World()
    assert refusal(world, held(world, "high x"), SAFE, scope="session").code == "not_offered"


def test_the_call_ran_as_approved_only_with_the_edited_input() -> None:
    world = World()
    edited = world.edit(held(world), SAFE)
    world.commit()
    world.send(post(edited.data.tool))
    assert not world.all("effect.contradicted")
    assert world.all("effect.confirmed")


def test_the_call_that_runs_as_it_was_before_the_edit_is_an_alarm() -> None:
    world = World()
    world.edit(held(world), SAFE)
    world.commit()
    world.send(post(shell("high x", "c1")))
    (alarm,) = world.all("effect.contradicted")
    assert alarm.data["alarm"] == "RAN ALTERED"


def test_one_that_is_decided_meanwhile_cannot_be_edited() -> None:
    world = World()
    request = held(world)
    world.decide(request, "deny")
    with pytest.raises(Refused) as refused:
        world.edit(request, SAFE)
    assert refused.value.code == "already_settled"


def test_an_edited_call_is_never_handed_back_as_it_was() -> None:
    world = World()
    request = held(world)
    waiter = msgspec.structs.replace(request.waiters[0], silence="handback")
    request.waiters[:] = [waiter]
    meant = world.engine.edited(request, SAFE)
    assert (meant.silence, meant.data.silence) == ("deny", "deny")
    assert request.silence == "handback"
