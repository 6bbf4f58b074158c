"""Of several reasons to refuse a decision the first is told, and each says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import BELOW, ONLY_DENIES, pre, shell
from tests.core.world import World
from watchgate.core.gate.operator_decisions import (
    ARMED_AFTER_MS,
    OperatorDecision,
    Refused,
    check_decision,
)
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.presence.proof import Proof


def refused(world: World, request: ApprovalRequest, **said: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        check_decision(OperatorDecision(by="operator ann", **said), request, world.now)
    return caught.value


def test_the_reasons_are_looked_for_in_one_order() -> None:
    world = World()
    request = world.ask(pre(shell("high", "c1")), 1)
    world.now = world.now.plus(300)
    wrong: dict[str, Any] = {
        "decision": "allow",
        "scope": "session",
        "stop": True,
        "digest": "00",
        "proof": BELOW,
        "shown_ms": ARMED_AFTER_MS - 1,
    }
    mended: list[tuple[dict[str, Any], str]] = [
        ({}, "not_offered"),
        ({"scope": "once"}, "bad_request"),
        ({"stop": False}, "digest_mismatch"),
        ({"digest": request.data.digest}, "self_approval"),
        ({"proof": Proof()}, "too_late"),
    ]
    for mend, code in mended:
        wrong |= mend
        assert refused(world, request, **wrong).code == code
    world.now = world.now.plus(-1)
    assert refused(world, request, **wrong).code == "not_armed"
    wrong["shown_ms"] = ARMED_AFTER_MS
    assert "confirmed" in str(refused(world, request, **wrong)), "then the second look"
    check_decision(OperatorDecision(by="operator ann", confirmed=True, **wrong), request, world.now)


def test_what_is_settled_is_refused_before_anything_else() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "deny")
    assert refused(world, request, decision="allow", scope="nonsense").code == "already_settled"


def test_a_turn_that_cannot_be_ended_is_told_before_a_wrong_digest() -> None:
    world = World()
    request = world.ask(pre(can=ONLY_DENIES), 1)
    said = refused(world, request, decision="deny", stop=True, digest="00")
    assert (said.code, "deny without that" in str(said)) == ("not_offered", True)


def test_an_operator_who_may_only_deny_is_told_where_to_decide() -> None:
    world = World()
    request = world.ask(pre(), 1)
    digest = request.data.digest
    text = str(refused(world, request, decision="allow", digest=digest, proof=BELOW))
    assert "it may only deny" in text
    assert "in a terminal window of your own that was open before the agent was started" in text
