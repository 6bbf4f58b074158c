"""Hook frames become events, or say why they cannot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import START
from tests.service.desk import payload
from watchgate.agents.base import DecodeError
from watchgate.agents.registry import ADAPTERS
from watchgate.core.base.decoding import DEEPEST
from watchgate.core.model.events import Event, Lane, Unknown
from watchgate.service.hub.hook_frames import HookFrame, decode_frame, unread_frame
from watchgate.service.wire.framing import FrameHead


def decoded(body: bytes, lane: Lane = Lane.GATE, **head: Any) -> Event:
    fields: dict[str, Any] = {"agent": "claude", "native": "PreToolUse", **head}
    return decode_frame(
        HookFrame(FrameHead(lane=lane, length=len(body), **fields), body, 7, START), ADAPTERS
    )


def test_the_header_and_the_payload_make_the_event() -> None:
    event = decoded(payload("ls"), deadline_s=9.0, env={"TMUX_PANE": "%1"})
    assert (event.kind, event.agent, event.lane, event.at) == ("tool.pre", "claude", "gate", START)
    assert (event.deadline_s, event.env) == (9.0, {"TMUX_PANE": "%1"})


def test_an_unknown_agent_is_named() -> None:
    with pytest.raises(DecodeError, match="unknown agent 'forge'"):
        decoded(payload("ls"), agent="forge")


def test_what_the_adapter_cannot_read_is_unreadable() -> None:
    with pytest.raises(DecodeError, match="unreadable payload: "):
        decoded(b"[]")


@pytest.mark.parametrize("lane", [Lane.GATE, Lane.GATE_READ])
def test_only_what_asks_about_a_call_may_come_on_a_gate(lane: Lane) -> None:
    with pytest.raises(DecodeError, match="asks about no tool call"):
        decoded(payload("ls", "PostToolUse"), lane)
    assert decoded(payload("ls", "PostToolUse"), Lane.OBSERVE).kind == "tool.post"


@pytest.mark.parametrize("agent", ["claude", "kimi"])
def test_a_prompt_is_no_answer_to_what_a_gate_of_calls_asks(agent: str) -> None:
    said = payload("ls", "UserPromptSubmit")
    with pytest.raises(DecodeError, match="asks about no tool call"):
        decoded(said, agent=agent)
    assert decoded(said, agent=agent, native="UserPromptSubmit").kind == "prompt.submit"


def test_what_cannot_be_denied_is_refused_on_a_gate() -> None:
    asks = {
        "session_id": "s1",
        "hook_event_name": "Notification",
        "notification_type": "ToolPermission",
        "details": {"type": "exec", "command": "rm -rf /"},
    }
    with pytest.raises(DecodeError, match="takes no denial"):
        decoded(msgspec.json.encode(asks), agent="gemini", native="BeforeTool")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("AskUserQuestion", {"questions": [{"question": "Which?", "options": []}]}),
        ("ExitPlanMode", {"plan": "do it"}),
    ],
)
def test_the_permission_tool_puts_questions_and_plans_to_a_person(
    tool: str, args: dict[str, Any]
) -> None:
    call = {"method": "tools/call", "params": {"arguments": {"tool_name": tool, "input": args}}}
    event = decoded(msgspec.json.encode(call), native="--permission-prompt-tool")
    assert event.kind == "question"


def test_nesting_is_bounded_on_every_lane() -> None:
    deep: Any = 1
    for _ in range(DEEPEST):
        deep = [deep]
    call = {**msgspec.json.decode(payload("ls")), "tool_input": {"command": deep}}
    for lane in Lane:
        with pytest.raises(DecodeError, match="nested"):
            decoded(msgspec.json.encode(call), lane)


@pytest.mark.parametrize("field", ["session_id", "tool_name", "tool_use_id", "agent_id", "cwd"])
def test_names_that_are_kept_for_long_are_bounded(field: str) -> None:
    call = {**msgspec.json.decode(payload("ls")), field: "x" * 10_000}
    with pytest.raises(DecodeError, match=field):
        decoded(msgspec.json.encode(call))


def test_brackets_in_a_text_are_no_nesting() -> None:
    assert decoded(payload("[{" * 10_000)).tool is not None


def test_what_was_not_read_is_kept_as_it_came() -> None:
    head = FrameHead(agent="claude", lane=Lane.GATE, length=3, native="PreToolUse")
    event = unread_frame(head, b"{\xff", 7, "it is broken", START, ADAPTERS)
    assert (event.kind, event.agent, event.session) == ("unknown", "claude", "pid 7")
    assert event.body == Unknown(why="it is broken", text="{\\xff")
    assert event.lane is Lane.OBSERVE, "whoever waits is answered closed, not by the engine"
    assert unread_frame(None, b"", 7, "no header", START, ADAPTERS).agent == "unknown"
