"""A line that cannot be read passes and says so in a record, but never a permission in it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from watchgate.agents.acp import ADAPTER as ACP
from watchgate.agents.acp.acp_wire import AcpWire
from watchgate.agents.base import Adapter, Intake
from watchgate.agents.claude import ADAPTER as CLAUDE
from watchgate.agents.claude.stream_json import StreamJsonWire
from watchgate.agents.proxied import Side, Step, Wire
from watchgate.agents.proxied.outline import id_of, outline, texts_at
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Lane, Unknown

PERMISSION = {"id": 5, "method": "session/request_permission", "params": {"sessionId": "s"}}
ASKS = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}}
CONTROL = {"type": "control_request", "request_id": "q", "request": ASKS}
CANCELLED = {"jsonrpc": "2.0", "id": 5, "result": {"outcome": {"outcome": "cancelled"}}}

FORMS = {
    "in a list": lambda line: b"[" + line + b"]",
    "in a list with another": lambda line: b'[{"x":1},' + line + b"]",
    "after another": lambda line: b'{"x":"1"} ' + line,
    "after a byte order mark": lambda line: b"\xef\xbb\xbf" + line,
    "with half a surrogate pair": lambda line: b'{"odd":"\\ud800",' + line[1:],
    "with a number out of range": lambda line: b'{"odd":1e999,' + line[1:],
    "with a word of another language": lambda line: b'{"odd":NaN,' + line[1:],
    "with bytes that are no text": lambda line: b'{"odd":"\xff",' + line[1:],
    "too deep": lambda line: b'{"odd":' + b"[" * 5_000 + b"]" * 5_000 + b"," + line[1:],
    "almost too deep": lambda line: b'{"odd":' + b"[" * 995 + b"]" * 995 + b"," + line[1:],
    "cut off": lambda line: line[:-1],
}


def wires() -> tuple[tuple[Wire, Adapter, dict[str, Any]], ...]:
    return (
        (AcpWire("agent", "/srv"), ACP, PERMISSION),
        (StreamJsonWire("claude", "/srv"), CLAUDE, CONTROL),
    )


def recorded(step: Step, wire: Wire, adapter: Adapter) -> list[str]:
    """What is recorded of lines that nobody could read."""
    kept = [*step.observed, *wire.rest()]
    intake = [Intake(lane=Lane.OBSERVE, at=Instant(0, 0.0), native=seen.native) for seen in kept]
    events = [adapter.decode(seen.payload, each) for seen, each in zip(kept, intake, strict=True)]
    assert {event.kind for event in events} <= {"unknown"}
    return [event.body.why for event in events if isinstance(event.body, Unknown)]


@pytest.mark.parametrize("form", FORMS)
def test_a_permission_in_a_line_that_cannot_be_read_is_refused(form: str) -> None:
    for wire, adapter, asks in wires():
        step = wire.step(FORMS[form](json.dumps(asks).encode()) + b"\n", "agent")

        if step.hold is not None:
            continue  # it could be read after all
        assert not step.passes
        told = [msgspec.json.decode(line) for line in step.agent_lines]
        if asks is PERMISSION:
            assert told == [CANCELLED]
        else:
            (denial,) = told
            assert denial["response"]["request_id"] == "q"
            assert denial["response"]["response"]["behavior"] == "deny"
        (why,) = recorded(step, wire, adapter)
        assert why.startswith("refused unread, from the agent: ")


@pytest.mark.parametrize("side", ["agent", "editor"])
@pytest.mark.parametrize(
    "line",
    [
        b"[1]\n",
        b"{}{}\n",
        b"\xef\xbb\xbf{}\n",
        b'{"a":"\\ud800"}\n',
        b'{"a":1e999}\n',
        b'{"text":"session/request_permission can_use_tool control_request"\n',
        b'{"params":{"method":"session/request_permission","type":"control_request"}\n',
    ],
)
def test_any_other_passes_and_a_record_says_that_nobody_read_it(line: bytes, side: Side) -> None:
    for wire, adapter, _ in wires():
        step = wire.step(line, side)

        assert (step.passes, step.agent_lines) == (True, ())
        (why,) = recorded(step, wire, adapter)
        assert why.startswith(f"passed unread, from the {side}: ")


def test_an_empty_line_is_nothing_to_record() -> None:
    for wire, _, _ in wires():
        assert wire.step(b"\r\n", "agent") == Step()


def test_a_method_that_is_given_twice_cannot_hide_a_permission() -> None:
    wire = AcpWire("agent", "/srv")
    line = b'{"id":5,"method":"session/request_permission","method":"session/update","params":{}}'

    step = wire.step(line, "agent")

    assert not step.passes
    assert [msgspec.json.decode(each) for each in step.agent_lines] == [CANCELLED]


def test_what_comes_with_a_refused_permission_is_told_that_it_was_not_read() -> None:
    both = b'[{"id":"a","method":"fs/read_text_file"},' + json.dumps(PERMISSION).encode() + b"]"

    told = [msgspec.json.decode(each) for each in AcpWire("x", "/").step(both, "agent").agent_lines]

    assert [(each["id"], "error" in each) for each in told] == [("a", True), (5, False)]


def test_a_line_that_is_too_long_is_judged_by_its_beginning() -> None:
    start = b'{"id":"\\ud800","method":"session/request_permission","params":{"a":"' + b"x" * 9_999
    plain = b'{"method":"session/update","params":{"a":"{\\"method\\":\\"session/request_permission'
    wire = AcpWire("agent", "/srv")

    assert (
        wire.unread(start, "agent", "long")
        .agent_lines[0]
        .startswith(b'{"jsonrpc":"2.0","id":"\\ud800"')
    )
    assert wire.unread(plain, "agent", "long").passes
    assert wire.unread(start, "editor", "long").passes


def test_an_outline_has_what_stands_at_the_top_of_each_message() -> None:
    (first, second) = outline(b'{"a":1,"a":{"b":"\\u0078","c":{"d":2}},"l":["n"]} [{"id":null}]')

    assert first == {("a",): [b"1"], ("a", "b"): [b'"\\u0078"']}
    assert texts_at(first, "a", "b") == ["x"]
    assert (id_of(first, "a"), id_of(second, "id")) == (b"1", b"")
