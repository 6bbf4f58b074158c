"""What went wrong in other hook systems around approvals and ends, as this engine does it."""

from __future__ import annotations

import pytest

from tests.core.builders import ONLY_DENIES, other, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Can, Kind
from watchgate.core.model.verdicts import Defer, SayDeny, SayNothing


def lifecycle(kind: str) -> Handler:
    return Handler(id="hook", on=frozenset({kind}), role="observer")


def test_sa_12_the_hooks_of_a_sessions_end_run_once_after_its_record() -> None:
    world = World(handlers=[lifecycle("session.end")], preset="sandbox-lifecycle")
    assert world.send(other("session.end")) == ["session.end"]
    assert len(world.asked) == 1
    assert world.says("hook", Defer()) == ["hook.trace"]
    assert world.send(other("session.end")) == ["session.end"], "a second end is recorded"
    assert len(world.asked) == 1, "and runs nothing"


def test_sa_12_a_session_that_goes_on_may_end_again() -> None:
    world = World(handlers=[lifecycle("session.end")], preset="sandbox-lifecycle")
    world.send(other("session.end"))
    world.send(other("session.start"))
    world.send(other("session.end"))
    assert len(world.asked) == 2


def test_sa_13_each_list_of_a_sessions_life_is_run_once_and_in_order() -> None:
    kinds: tuple[Kind, ...] = ("session.start", "prompt.submit", "turn.end", "session.end")
    handlers = [Handler(id=kind, on=frozenset({kind}), role="observer") for kind in reversed(kinds)]
    world = World(handlers=handlers, preset="sandbox-lifecycle")
    for kind in kinds:
        world.send(other(kind))
    assert [ask.invoke.handler.id for ask in world.asked] == list(kinds)


def test_sa_b5_the_end_of_a_message_is_heard_from_the_stream_not_from_the_sending() -> None:
    world = World(handlers=[lifecycle("turn.end")], preset="sandbox-lifecycle")
    world.send(other("prompt.submit"))
    assert world.asked == []
    world.send(other("turn.end"))
    assert [ask.invoke.handler.id for ask in world.asked] == ["hook"]


def test_sa_b11_a_request_is_over_only_when_the_client_was_told() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.decide(request, "allow")
    world.commit()
    kinds = world.do(world.engine.sent(request.id, delivered=False, now=world.now))
    assert kinds == ["effect.undelivered"], "never confirmed as told"
    assert not world.all("effect.sent", request)


@pytest.mark.parametrize("can", [Can(deny=True), ONLY_DENIES])
def test_sa_b12_what_the_agent_cannot_be_told_is_said_and_never_printed(can: Can) -> None:
    world = World()
    request = world.ask(pre(can=can), 1)
    assert request.data.once_allowed == "runs-or-asks"
    assert "stop" not in request.data.offered
    assert request.data.scopes == ("once",), "high: no standing grant is offered"
    world.allow(request)
    assert world.replies[1] == [SayNothing()]


def test_sa_b12_a_scope_that_is_not_offered_is_refused() -> None:
    world = World()
    request = world.ask(pre(), 1)
    with pytest.raises(Refused):
        world.decide(request, "allow", scope="session")
    assert world.broker.open[request.id].open


def test_sa_b13_events_flow_and_other_calls_are_answered_while_one_waits() -> None:
    world = World()
    world.ask(pre(shell("high", "c1")), 1)
    world.send(pre(shell("low", "c7")), 3)
    assert world.send(post(shell("low", "c7"))) == ["tool.post"]
    world.send(pre(shell("low", "c2")), 2)
    assert world.replies[2] == [SayNothing()]
    assert world.broker.of_conn(1) is not None


def test_sa_b14_nobody_to_approve_is_a_reason_of_its_own() -> None:
    world = World(consoles=0, unattended="deny")
    world.send(pre(), 1)
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert "No operator is attached" in reply.reason
    assert world.all("approval.decided")[0].data["word"] == "denied-no-approver"
