"""A held permission of stream-json is answered once, and by the core."""

from __future__ import annotations

import json

from watchgate.agents.claude.stream_json import StreamJsonWire

ASKS = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}}
ASKED = {"type": "control_request", "request_id": "q", "request": ASKS}
ALLOWED = {"subtype": "success", "request_id": "q", "response": {"behavior": "allow"}}


def test_an_answer_to_what_is_held_does_not_reach_claude() -> None:
    wire = StreamJsonWire("claude", "/srv")
    held = wire.step(json.dumps(ASKED).encode(), "agent").hold
    assert held is not None
    answer = json.dumps({"type": "control_response", "response": ALLOWED}).encode()
    assert not wire.step(answer, "editor").passes
    assert wire.settle(held, b"") is None
    assert wire.step(answer, "editor").passes
