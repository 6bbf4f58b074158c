"""Prompts that hooks may rewrite: handed from one to the next, and never told to an agent."""

from __future__ import annotations

from tests.core.builders import ONLY_DENIES, other
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.events import Lane, Text
from watchgate.core.model.verdicts import Allow, Modify, SayDeny, SayNothing, Verdict

HOOKS = [Handler(id=name, on=frozenset({"prompt.submit"})) for name in ("mask", "check")]


def submitted(first: Verdict) -> World:
    """A prompt that the first of two hooks answered so."""
    world = World(handlers=HOOKS, preset="console")
    world.send(other("prompt.submit", lane=Lane.GATE, can=ONLY_DENIES), 1)
    assert [ask.invoke.handler.id for ask in world.asked] == ["mask"]
    assert world.asked[0].invoke.event.body == Text("words")
    world.says("mask", first)
    return world


def test_cw_25_the_second_hook_of_a_prompt_sees_what_the_first_made_of_it() -> None:
    world = submitted(Modify({"text": "masked words"}))
    assert [ask.invoke.handler.id for ask in world.asked] == ["mask", "check"]
    assert world.asked[1].invoke.event.body == Text("masked words")


def test_cw_25_a_prompt_that_a_hook_rewrote_is_not_sent_and_the_hook_is_named() -> None:
    world = submitted(Modify({"text": "masked words"}))
    assert 1 not in world.replies
    world.says("check", Allow())
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    assert "Handler mask rewrote the prompt" in reply.reason
    assert "claude cannot be told another one" in reply.reason


def test_cw_25_a_prompt_that_every_hook_passes_is_sent_as_it_is() -> None:
    world = submitted(Allow())
    assert world.asked[1].invoke.event.body == Text("words")
    world.says("check", Allow())
    assert world.reply(1) == SayNothing()
