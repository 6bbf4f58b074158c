from __future__ import annotations

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.events import Lane, ToolCall, ToolResult, Unknown, Usage
from watchgate.core.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.service.lines import decode_chunk, line_answer

AT = Instant(1_000, 1.0)


def _line(**fields: object) -> bytes:
    return msgspec.json.encode({"watchgate": 1, "agent": "acp", "session": "s", **fields}) + b"\n"


def test_a_tool_call_and_its_result_become_events_of_one_call() -> None:
    chunk = _line(kind="tool.pre", tool="sh", tool_class="shell", input={"command": "ls"}) + _line(
        kind="tool.post", tool="sh", tool_class="shell", input={"command": "ls"}, took_ms=4
    )
    (call, _), (result, _) = decode_chunk(chunk, AT, "pid 7")
    assert isinstance(call.body, ToolCall)
    assert isinstance(result.body, ToolResult)
    assert call.lane is Lane.OBSERVE
    assert call.body.tool.input_hash == result.body.tool.input_hash


def test_only_a_request_waits_for_an_answer() -> None:
    chunk = _line(kind="tool.pre", tool="sh", input={}, ask=True, id=4, deadline_s=9.0)
    ((event, line),) = decode_chunk(chunk, AT, "pid 7")
    assert event.lane is Lane.GATE
    assert event.deadline_s == 9.0
    assert event.can.allow
    assert line is not None
    assert line.id == 4


def test_names_that_are_kept_for_long_are_bounded() -> None:
    for field in ("agent", "session", "tool", "call_id", "cwd"):
        fields = {"kind": "tool.pre", "ask": True, "id": 4, field: "x" * 10_000}
        ((event, line),) = decode_chunk(_line(**fields), AT, "pid 7")
        assert isinstance(event.body, Unknown)
        assert line is not None
        assert line.id == 4, "it is answered closed"


def test_usage_is_taken_as_reported() -> None:
    chunk = _line(kind="usage", usage={"type": "usage", "total_cost_usd": 0.25})
    ((event, _),) = decode_chunk(chunk, AT, "pid 7")
    assert event.body == Usage(total_cost_usd=0.25)


def test_a_line_of_another_shape_is_kept_raw_and_its_neighbours_are_decoded() -> None:
    chunk = _line(kind="prompt.submit", text="a") + b'{"at":1,"event":{}}\n\n{"torn'
    kinds = [event.kind for event, _ in decode_chunk(chunk, AT, "pid 7")]
    assert kinds == ["prompt.submit", "unknown", "unknown"]
    raw = decode_chunk(chunk, AT, "pid 7")[1][0]
    assert raw.session == "pid 7"
    assert isinstance(raw.body, Unknown)
    assert raw.body.text == '{"at":1,"event":{}}'


def test_replies_name_the_request() -> None:
    assert msgspec.json.decode(line_answer(4, SayAllow()).stdout) == {"id": 4, "decision": "allow"}
    assert msgspec.json.decode(line_answer("x", SayDeny("no")).stdout) == {
        "id": "x",
        "decision": "deny",
        "reason": "no",
    }
    assert msgspec.json.decode(line_answer(1, SayNothing()).stdout)["decision"] == "handback"
