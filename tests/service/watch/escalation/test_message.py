"""What somebody elsewhere is told: enough to come and look, nothing to decide with."""

from __future__ import annotations

import msgspec

from tests.core.builders import pre, shell
from tests.core.world import World
from watchgate.core.model.requests import ApprovalRequest
from watchgate.service.watch.escalation.escalation_watch import (
    EscalationMessage,
    escalation_message,
)

KEY = "AKIA" + "IOSFODNN7EXAMPL3"


def about(world: World, request: ApprovalRequest, label: str = "api") -> EscalationMessage:
    return escalation_message(request, label, "lab1", world.now)


def test_it_names_the_request_whose_it_is_and_how_to_look_at_it() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.advance(60)
    told = about(world, request)
    assert told.id == request.id[:8]
    assert (told.agent, told.session, told.host) == ("claude", "api", "lab1")
    assert (told.risk, told.reason, told.summary) == ("high", "it says high", "high")
    assert (told.waited_s, told.left_s, told.silence) == (60, 240, "deny")
    assert told.decide_with == f"watchgate show {told.id}"
    assert told.text == (
        f"HIGH Bash of claude api on lab1 waits 60 s, denied in 240 s: high"
        f" (decide with: watchgate show {told.id})"
    )


def test_neither_the_digest_nor_the_whole_id_is_in_it() -> None:
    world = World()
    request = world.ask(pre(), 1)
    body = msgspec.json.encode(about(world, request)).decode()
    assert request.data.digest not in body
    assert request.id not in body
    assert "http" not in body


def test_secrets_are_covered_and_hidden_characters_shown_before_anything_is_cut() -> None:
    world = World()
    command = f"high {'x' * 270} AWS_ACCESS_KEY_ID={KEY} \u202eevil\nnext"
    told = about(world, world.ask(pre(shell(command, "c1")), 1), label="a\u200bpi\n" + "y" * 100)
    body = msgspec.json.encode(told).decode()
    assert KEY[:8] not in body
    assert "\u202e" not in told.summary + told.text
    assert "\n" not in told.summary + told.text + told.session
    assert len(told.summary) <= 300
    assert told.session.startswith("a<U+200B>pi")
    assert len(told.session) <= 60
