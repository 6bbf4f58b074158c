"""AP-7: a call that the agent is past is not a question any more."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import batch, other, permission, post, pre, resolved, shell, sub
from tests.core.world import World
from watchgate.core.gate.call_results import TURN_OVER
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Event, Kind, Text, Tool, ToolCall
from watchgate.core.model.verdicts import SayDeny, SayNothing

THIS = shell(call_id="c1")
PAST_THE_CALL = [
    post(THIS),
    post(THIS, ok=False),
    post(shell()),
    batch(shell("low", "x"), THIS),
    resolved(THIS),
    *(other(kind) for kind in sorted(TURN_OVER - {"agent.stop"})),  # type: ignore[arg-type]
]


def relayed(world: World) -> str:
    world.send(pre(shell("medium", "c0")), 8)
    return world.ask(permission(THIS), 1).id


@pytest.mark.parametrize("event", PAST_THE_CALL, ids=lambda event: event.kind)
def test_ap_7_the_relay_card_is_closed_and_the_client_let_go(event: Event) -> None:
    world = World()
    request = world.broker.open[relayed(world)]
    world.send(event)
    assert world.reply(1) == SayNothing()
    assert world.ending(request)["word"] == "answered-elsewhere"
    assert world.ending(request)["by"] == "a sender that is not known"
    assert (world.pending, world.state.pending) == (set(), {})
    with pytest.raises(Refused):
        world.decide(request, "allow")


@pytest.mark.parametrize(
    "event", [post(THIS), batch(THIS), resolved(THIS), other("session.end")], ids=lambda e: e.kind
)
def test_ap_7_a_gate_that_waits_is_denied_never_handed_back(event: Event) -> None:
    world = World()
    request = world.ask(pre(THIS), 1)
    world.send(event)
    assert isinstance(world.reply(1), SayDeny)
    assert world.ending(request)["word"] == "answered-elsewhere"


@pytest.mark.parametrize("kind", sorted(TURN_OVER - {"session.end"}))
def test_the_end_of_a_turn_leaves_a_gate_that_waits(kind: Kind) -> None:
    world = World()
    request = world.ask(pre(THIS), 1)
    world.send(other(kind))
    assert world.pending == {request.id}
    assert world.replies == {}


def empty_prompt() -> Event:
    """What Qwen Code submits after each result of a tool."""
    return msgspec.structs.replace(other("prompt.submit"), body=Text(""))


UNRELATED = [
    post(shell("high y", "c2")),
    post(shell(call_id="c2")),
    post(shell("high y")),
    post(THIS, session="two"),
    post(THIS, agent="codex"),
    post(shell(), sub=sub()),
    batch(shell("high y", "c2")),
    other("turn.end", session="two"),
    other("agent.stop", sub=sub()),
    other("agent.stop"),
    other("turn.end", sub=sub()),
    other("session.end", sub=sub()),
    empty_prompt(),
    other("notice"),
    other("message"),
]


@pytest.mark.parametrize("event", UNRELATED, ids=lambda event: event.kind)
def test_an_unrelated_event_never_clears_a_card(event: Event) -> None:
    world = World()
    gate, relay = world.ask(pre(THIS), 1), world.ask(permission(shell("high z", "z")), 2)
    world.send(event)
    assert world.pending == {gate.id, relay.id}
    assert world.replies == {}


def test_the_end_of_a_sub_agent_closes_only_its_own_cards() -> None:
    world = World()
    mine = world.ask(permission(shell("high a", "a")), 1)
    world.ask(permission(shell("high b", "b"), sub=sub()), 2)
    world.send(other("agent.stop", sub=sub()))
    assert world.pending == {mine.id}


def test_a_post_event_without_an_id_does_not_close_the_card_of_a_waiting_gate() -> None:
    world = World()
    world.send(pre(shell(call_id="a")), 1)
    world.allow(world.broker.open[world.broker.of_conn(1) or ""])
    waits = world.ask(pre(shell(call_id="b")), 2)
    world.send(post(shell()))
    assert world.pending == {waits.id}


def test_a_rewritten_call_that_ran_closes_the_cards_of_all_its_inputs() -> None:
    world = World()
    world.ask(permission(shell("high a", "c1")), 1)
    world.ask(permission(shell("high b", "c1")), 2)
    world.send(post(shell("high b", "c1")))
    assert world.pending == set()
    assert (world.reply(1), world.reply(2)) == (SayNothing(), SayNothing())


def test_an_allow_on_its_way_to_the_disk_is_not_told_any_more() -> None:
    world = World()
    request = world.ask(permission(THIS), 1)
    world.decide(request, "allow")
    world.send(post(THIS))
    assert world.commit() == []
    assert world.reply(1) == SayNothing()
    assert world.all("effect.undelivered", request)[0].data["word"] == "answered-elsewhere"
    assert world.state.rows[0].stage == "done"


def allowed_there(tool: Tool) -> Event:
    """The agent's own word that somebody allowed a call in its own dialog."""
    return msgspec.structs.replace(resolved(tool), body=ToolCall(tool, allowed=True))


def test_a_call_that_was_allowed_in_the_agents_own_dialog_goes_on() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    request = world.ask(permission(shell("low", "c1")), 2)
    world.send(allowed_there(shell("low", "c1")))
    assert world.reply(2) == SayNothing()
    assert world.ending(request)["word"] == "answered-elsewhere"
    world.send(post(shell("low", "c1")))
    assert (world.all("effect.ungated"), world.all("effect.contradicted")) == ([], [])
    assert world.state.rows[0].stage == "done"


def test_what_was_allowed_there_does_not_end_the_wait_at_a_gate() -> None:
    world = World()
    request = world.ask(pre(THIS), 1)
    world.send(allowed_there(THIS))
    assert world.pending == {request.id}
    assert world.replies == {}


@pytest.mark.parametrize(
    ("teller_pid", "by"),
    [
        (7, "the agent"),
        (8, "pid 8, not the agent that asked"),
        (None, "a sender that is not known"),
    ],
)
def test_the_record_says_whose_word_it_is_and_claims_no_prompt(
    teller_pid: int | None, by: str
) -> None:
    world = World()
    world.send(pre(shell("medium", "c0")), 8)
    asked = msgspec.structs.replace(permission(THIS), agent_pid=7)
    request = world.ask(asked, 1)
    world.send(msgspec.structs.replace(post(THIS), teller_pid=teller_pid))
    assert world.ending(request)["by"] == by
