"""What is held between an editor and an agent, what ends it, and what is told of the rest."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from watchgate.agents.acp.acp_wire import MAX_EARLY, AcpWire
from watchgate.agents.proxied import HeldRequest, ObservedMessage, Side, Step

OPTIONS = [{"optionId": "y", "name": "Allow", "kind": "allow_once"}]
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def say(wire: AcpWire, side: Side, **message: Any) -> Step:
    return wire.step(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n", side)


def ask(wire: AcpWire, id: Any = 5, session: str = "s") -> HeldRequest:
    params = {"sessionId": session, "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
    step = say(wire, "agent", id=id, method="session/request_permission", params=params)
    assert step.hold is not None
    assert not step.passes
    return step.hold


def update(wire: AcpWire, **fields: Any) -> Step:
    params = {"sessionId": "s", "update": fields}
    return say(wire, "agent", method="session/update", params=params)


def told(seen: ObservedMessage) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(seen.payload)
    return found


@pytest.fixture
def wire() -> AcpWire:
    return AcpWire("agent", "/srv")


def test_a_permission_is_held_with_its_session_and_its_id_as_written(wire: AcpWire) -> None:
    held = ask(wire, id="a-1")
    assert (held.id, held.scope) == (b'"a-1"', "s")
    assert held.observed.native == "session/request_permission"


def test_a_form_is_held_and_a_link_to_a_page_is_not(wire: AcpWire) -> None:
    form = {"sessionId": "s", "message": "Name?", "requestedSchema": FORM}
    assert say(wire, "agent", id=1, method="elicitation/create", params=form).hold is not None
    link = {**form, "mode": "url", "url": "https://example.com"}
    assert say(wire, "agent", id=2, method="elicitation/create", params=link).passes


def test_a_permission_that_cannot_be_answered_passes(wire: AcpWire) -> None:
    step = say(wire, "agent", method="session/request_permission", params={"sessionId": "s"})
    assert step.passes
    assert step.hold is None


def test_the_agent_is_told_what_the_core_answered_under_its_own_id(wire: AcpWire) -> None:
    result = {"result": {"outcome": {"outcome": "selected", "optionId": "y"}}}
    line = wire.settle(ask(wire, id="a-1"), json.dumps(result).encode())
    assert line is not None
    assert json.loads(line) == {"jsonrpc": "2.0", "id": "a-1", **result}


@pytest.mark.parametrize("answer", [b"", b"{", b"[]", b'{"error":{}}'])
def test_without_an_answer_of_the_core_the_request_is_passed_on(
    wire: AcpWire, answer: bytes
) -> None:
    assert wire.settle(ask(wire), answer) is None


def test_what_ended_before_its_answer_is_told_nothing_more(wire: AcpWire) -> None:
    held = ask(wire)
    wire.withdraw()
    assert wire.settle(held, b'{"result":{}}') == b""


def test_a_cancelled_turn_ends_what_its_session_asks_and_nothing_else(wire: AcpWire) -> None:
    mine, other = ask(wire, 1, "s"), ask(wire, 2, "t")
    step = say(wire, "editor", method="session/cancel", params={"sessionId": "s"})
    assert step.passes
    ((ended, line),) = step.ended
    assert ended == mine
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 1, "result": CANCELLED}
    assert [held for held, _ in wire.withdraw()] == [other]


def test_a_request_that_the_agent_takes_back_ends_and_never_reaches_the_editor(
    wire: AcpWire,
) -> None:
    ask(wire, 5)
    step = say(wire, "agent", method="$/cancel_request", params={"requestId": 5})
    assert not step.passes
    assert [json.loads(line)["error"]["code"] for _, line in step.ended] == [-32800]
    assert say(wire, "agent", method="$/cancel_request", params={"requestId": 5}).passes


def test_a_form_is_cancelled_in_its_own_words(wire: AcpWire) -> None:
    form = {"sessionId": "s", "message": "Name?", "requestedSchema": FORM}
    say(wire, "agent", id=1, method="elicitation/create", params=form)
    ((_, line),) = wire.withdraw()
    assert json.loads(line)["result"] == {"action": "cancel"}


def test_a_call_whose_permission_was_withdrawn_did_not_run(wire: AcpWire) -> None:
    ask(wire)
    wire.withdraw()
    step = update(wire, sessionUpdate="tool_call_update", toolCallId="c", status="failed")
    assert told(step.observed[0])["context"]["denied"] is True


def test_what_comes_before_any_session_is_told_once_there_is_one(wire: AcpWire) -> None:
    assert not say(wire, "editor", id=0, method="initialize", params={}).observed
    say(wire, "editor", id=1, method="session/new", params={"cwd": "/home/me"})
    step = say(wire, "agent", id=1, result={"sessionId": "s"})
    assert [seen.native for seen in step.observed] == [
        "initialize",
        "session/new",
        "session/new result",
    ]
    assert {told(seen)["context"]["session"] for seen in step.observed} == {"s"}


def test_only_so_much_waits_for_a_session(wire: AcpWire) -> None:
    steps = [say(wire, "editor", method="odd") for _ in range(MAX_EARLY + 1)]
    assert [len(step.observed) for step in steps] == [0] * MAX_EARLY + [MAX_EARLY + 1]


def test_words_are_told_as_one_message_before_whatever_follows_them(wire: AcpWire) -> None:
    for said in ("Hel", "lo"):
        chunk = {"type": "text", "text": said}
        assert not update(wire, sessionUpdate="agent_message_chunk", content=chunk).observed
    step = update(wire, sessionUpdate="tool_call", toolCallId="c")
    assert [seen.native for seen in step.observed] == [
        "session/update:agent_message_chunk",
        "session/update:tool_call",
    ]
    assert told(step.observed[0])["message"]["params"]["update"]["content"]["text"] == "Hello"


def test_the_tokens_of_a_prompt_are_told_beside_its_end(wire: AcpWire) -> None:
    say(wire, "editor", id=1, method="session/prompt", params={"sessionId": "s"})
    step = say(wire, "agent", id=1, result={"stopReason": "end_turn", "usage": {"inputTokens": 1}})
    assert [seen.native for seen in step.observed] == [
        "session/prompt usage",
        "session/prompt result",
    ]


def test_what_is_no_message_passes_and_is_kept_as_it_is(wire: AcpWire) -> None:
    ask(wire)
    step = wire.step(b"panic: oh no\n", "agent")
    assert step.passes
    assert told(step.observed[-1])["message"]["unread"] == "panic: oh no\n"
    assert wire.step(b"\n", "agent") == Step()
