"""What is held between a program and `claude -p`, what ends it, and what is told of the rest."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from watchgate.agents.claude.stream_json import MAX_EARLY, MAX_REMEMBERED, StreamJsonWire
from watchgate.agents.proxied import HeldRequest, ObservedMessage, Side, Step

INIT = {"type": "system", "subtype": "init", "session_id": "s", "permissionMode": "plan"}
BASH = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "done"}


def say(wire: StreamJsonWire, side: Side, **message: Any) -> Step:
    return wire.step(json.dumps(message).encode() + b"\n", side)


def ask(wire: StreamJsonWire, id: str = "q") -> HeldRequest:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}}
    step = say(wire, "agent", type="control_request", request_id=id, request=request)
    assert step.hold is not None
    assert not step.passes
    return step.hold


def blocks(wire: StreamJsonWire, sort: str, *content: dict[str, Any]) -> Step:
    return say(wire, "agent", type=sort, session_id="s", message={"content": list(content)})


def context(seen: ObservedMessage) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(seen.payload)["context"]
    return found


@pytest.fixture
def wire() -> StreamJsonWire:
    return StreamJsonWire("claude", "/srv")


def test_a_permission_is_held_with_the_session_and_mode_told_before(wire: StreamJsonWire) -> None:
    say(wire, "agent", **INIT)
    held = ask(wire)
    assert (held.observed.native, held.id) == ("can_use_tool", b"q")
    assert context(held.observed) == {"session": "s", "mode": "plan"}


@pytest.mark.parametrize(
    "message",
    [
        {"request_id": "q", "request": {"subtype": "initialize"}},
        {"request": {"subtype": "can_use_tool"}},
        {"request_id": 7, "request": {"subtype": "can_use_tool"}},
    ],
)
def test_no_other_request_is_held(wire: StreamJsonWire, message: dict[str, Any]) -> None:
    step = say(wire, "agent", type="control_request", **message)
    assert step.passes
    assert step.hold is None


def test_what_the_program_requests_is_never_held(wire: StreamJsonWire) -> None:
    request = {"subtype": "can_use_tool"}
    assert say(wire, "editor", type="control_request", request_id="q", request=request).passes


def test_claude_is_told_the_core_s_answer_as_a_line(wire: StreamJsonWire) -> None:
    assert wire.settle(ask(wire), b'{"type":"control_response"}') == (
        b'{"type":"control_response"}\n'
    )


def test_without_an_answer_of_the_core_the_request_is_passed_on(wire: StreamJsonWire) -> None:
    assert wire.settle(ask(wire), b"") is None


def test_a_request_that_claude_takes_back_ends_without_a_word(wire: StreamJsonWire) -> None:
    held = ask(wire)
    step = say(wire, "agent", type="control_cancel_request", request_id="q")
    assert not step.passes
    assert step.ended == ((held, b""),)
    assert wire.settle(held, b"{}") == b""
    assert say(wire, "agent", type="control_cancel_request", request_id="q").passes


def test_a_program_that_leaves_denies_all_that_is_held(wire: StreamJsonWire) -> None:
    ask(wire, "a")
    ask(wire, "b")
    said = [json.loads(line)["response"] for _, line in wire.withdraw()]
    assert [each["request_id"] for each in said] == ["a", "b"]
    assert {each["response"]["behavior"] for each in said} == {"deny"}


def test_a_result_is_told_with_the_call_that_it_ends(wire: StreamJsonWire) -> None:
    (began,) = blocks(wire, "assistant", BASH).observed
    (ended,) = blocks(wire, "user", RESULT).observed
    assert context(began)["block"] == BASH
    assert context(ended)["call"] == BASH


def test_a_result_of_no_known_call_is_told_as_a_plain_line(wire: StreamJsonWire) -> None:
    (seen,) = blocks(wire, "user", RESULT).observed
    assert context(seen) == {"session": "s"}


def test_the_call_that_began_longest_ago_is_forgotten(wire: StreamJsonWire) -> None:
    blocks(wire, "assistant", BASH)
    blocks(
        wire, "assistant", *({**BASH, "id": f"more-{number}"} for number in range(MAX_REMEMBERED))
    )
    (seen,) = blocks(wire, "user", RESULT).observed
    assert "call" not in context(seen)


def test_what_comes_before_the_session_is_known_is_told_with_it(wire: StreamJsonWire) -> None:
    assert not say(wire, "editor", type="user", message={"content": "hello"}).observed
    step = say(wire, "agent", **INIT)
    assert [seen.native for seen in step.observed] == ["user", "system"]
    assert {context(seen)["session"] for seen in step.observed} == {"s"}


def test_only_so_much_waits_for_the_session(wire: StreamJsonWire) -> None:
    steps = [say(wire, "editor", type="keep_alive") for _ in range(MAX_EARLY + 1)]
    assert [len(step.observed) for step in steps] == [0] * MAX_EARLY + [MAX_EARLY + 1]


def test_a_run_that_never_told_its_session_is_told_at_its_end(wire: StreamJsonWire) -> None:
    say(wire, "editor", type="user", message={"content": "hello"})
    assert [seen.native for seen in wire.rest()] == ["user"]
    assert not wire.rest()


def test_parts_of_a_message_are_not_told(wire: StreamJsonWire) -> None:
    assert say(wire, "agent", type="stream_event", event={}) == Step()


def test_a_result_tells_the_cost_and_the_end_of_the_turn(wire: StreamJsonWire) -> None:
    cost, end = say(wire, "agent", type="result", session_id="s", total_cost_usd=0.1).observed
    assert "turn" not in context(cost)
    assert context(end)["turn"] is True


@pytest.mark.parametrize("line", [b"panic: oh no\n", b"[1]\n", b"\xff\n", b"[" * 2_000])
def test_what_is_no_message_passes(wire: StreamJsonWire, line: bytes) -> None:
    assert wire.step(line, "agent") == Step()
