"""What is held stays the core's to decide, whatever either side says meanwhile."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from watchgate.agents.acp import options_of
from watchgate.agents.acp.acp_wire import AcpWire
from watchgate.agents.proxied import Step

OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]
YES = {"jsonrpc": "2.0", "id": 5, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}


def asked(wire: AcpWire, **call: Any) -> Step:
    params = {"sessionId": "s", "toolCall": call, "options": OPTIONS}
    message = {"id": 5, "method": "session/request_permission", "params": params}
    return wire.step(json.dumps(message).encode(), "agent")


def test_an_answer_to_what_is_held_does_not_reach_the_agent() -> None:
    wire = AcpWire("agent", "/srv")
    held = asked(wire, toolCallId="c").hold
    assert held is not None
    assert not wire.step(json.dumps(YES).encode(), "editor").passes
    assert wire.settle(held, b"") is None
    assert wire.step(json.dumps(YES).encode(), "editor").passes


@pytest.mark.parametrize("id", [None, "", 7, "x" * 600])
def test_calls_without_a_usable_id_are_never_taken_for_each_other(id: Any) -> None:
    wire = AcpWire("agent", "/srv")
    before = {"sessionUpdate": "tool_call", "toolCallId": id, "rawInput": {"command": "ls"}}
    message = {"method": "session/update", "params": {"sessionId": "s", "update": before}}
    wire.step(json.dumps(message).encode(), "agent")
    held = asked(wire, toolCallId=id, title="rm -rf /").hold
    assert held is not None
    assert "rawInput" not in msgspec.json.decode(held.observed.payload)["context"]["call"]


@pytest.mark.parametrize("depth", range(960, 1000, 2))
def test_no_depth_ends_the_proxy(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    line = b'{"method":"session/update","params":{"sessionId":"s","update":{"x":' + deep + b"}}}"
    assert AcpWire("agent", "/srv").step(line, "agent").passes


def test_an_id_of_several_options_is_never_chosen() -> None:
    both = options_of([{**each, "optionId": "1"} for each in OPTIONS])
    assert (both.allow, both.deny) == ("", "")


@pytest.mark.parametrize(
    "name",
    [
        *("Yes, and don't ask again for make", "Allow all edits", "Trust this tool"),
        *("Allow forever", "Allow permanently", "Remember", "Yes, accept edits"),
        *("Allow for this project", "Run without asking", "Yes to all"),
    ],
)
def test_an_option_that_says_more_than_once_is_not_taken_for_once(name: str) -> None:
    assert options_of([{**OPTIONS[0], "name": name}]).allow == ""


@pytest.mark.parametrize("name", ["Allow", "Allow once", "Yes", "Yes, run it", "Proceed"])
def test_a_plain_option_is(name: str) -> None:
    assert options_of([{**OPTIONS[0], "name": name}]).allow == "y"
