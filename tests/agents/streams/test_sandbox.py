"""sandbox-agent's universal events become events of their session, read by their `type` alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.streams.lines import one, read, source, universal
from watchgate.core.model.events import Can, SessionChange, Text, ToolCall, ToolResult, Unknown

CALL = {
    "item_id": "i1",
    "native_item_id": "n1",
    "parent_id": None,
    "kind": "tool_call",
    "role": "assistant",
    "status": "in_progress",
    "content": [
        {
            "type": "tool_call",
            "name": "read_file",
            "arguments": '{"path": "a.py"}',
            "call_id": "call_1",
        }
    ],
}
RESULT = {
    "item_id": "i3",
    "parent_id": "i1",
    "kind": "tool_result",
    "role": "tool",
    "status": "completed",
    "content": [{"type": "tool_result", "call_id": "call_1", "output": "text"}],
}
ASKED = {
    "permission_id": "per_1",
    "action": "exec: git push",
    "status": "requested",
    "metadata": {"command": "git push"},
}


def message(role: str, text: str) -> dict[str, Any]:
    return {
        "item": {
            "item_id": "m",
            "kind": "message",
            "role": role,
            "content": [{"type": "text", "text": text}],
            "status": "completed",
        }
    }


def test_sa_13_the_order_of_a_life_is_the_order_of_the_stream() -> None:
    sent = source()
    lines = [
        universal(1, "session.started", {"metadata": {"cwd": "/srv/app"}}),
        universal(2, "turn.started", {"phase": "started", "turn_id": "t1"}),
        universal(3, "item.completed", message("user", "rename foo")),
        universal(4, "item.completed", message("assistant", "done")),
        universal(5, "turn.ended", {"phase": "ended", "turn_id": "t1"}),
        universal(6, "session.ended", {"reason": "completed", "terminated_by": "agent"}),
    ]
    events = [one(line, sent) for line in lines]
    kinds = [event.kind for event in events]
    assert kinds == [
        "session.start",
        "model.request",
        "prompt.submit",
        "message",
        "turn.end",
        "session.end",
    ]
    assert {event.cwd for event in events} == {"/srv/app"}


def test_sa_14_the_envelope_names_the_session_and_the_optional_fields_may_be_left_out() -> None:
    line = universal(1, "turn.started", {"turn_id": "t1"}, raw={"anything": 1})
    del line["native_session_id"]
    event = one(line)
    assert (event.agent, event.session, event.turn) == ("sandbox-agent", "s1", "t1")


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        ("session.started", {"metadata": None}, "session.start"),
        ("turn.started", {"phase": "started"}, "model.request"),
        ("error", {"message": "rate limited", "code": "429", "details": None}, "notice"),
        ("question.requested", {"question_id": "q", "prompt": "Which?"}, "question"),
    ],
)
def test_sa_15_the_type_says_what_the_data_is_never_its_shape(
    kind: str, data: dict[str, Any], told: str
) -> None:
    # Everything fits the data of session.started, whose only field is optional.
    assert one(universal(1, kind, {**data, "metadata": {"cwd": "/x"}})).kind == told


def test_sa_16_an_item_starts_goes_on_and_completes() -> None:
    sent = source()
    begun = one(universal(3, "item.started", {"item": CALL}), sent)
    delta = one(universal(4, "item.delta", {"item_id": "i2", "delta": "partial"}), sent)
    done = one(universal(5, "item.completed", {"item": RESULT}), sent)
    assert [begun.kind, delta.kind, done.kind] == ["tool.pre", "message", "tool.post"]
    assert delta.body == Text("partial")
    assert isinstance(done.body, ToolResult)
    assert done.tool == begun.tool, "the result belongs to the call, with its input"
    assert done.body.took_ms == 2_000, "by the sender's own clock"
    assert done.body.tool.input == {"path": "a.py"}


def test_sa_16_a_call_that_is_only_told_when_it_is_whole_begins_there() -> None:
    assert one(universal(1, "item.completed", {"item": CALL})).kind == "tool.pre"


def test_sa_17_a_permission_is_asked_for_and_answered_once() -> None:
    sent = source()
    asked = one(universal(1, "permission.requested", ASKED), sent)
    assert asked.kind == "tool.permission"
    assert asked.can == Can(), "it is answered at sandbox-agent, not here"
    resolved = universal(2, "permission.resolved", {**ASKED, "status": "accept"})
    assert one(resolved, sent).kind == "tool.permission.resolved"
    again = universal(3, "permission.resolved", {**ASKED, "status": "accept"})
    second = one(again, sent)
    assert second.kind == "notice"
    assert isinstance(second.body, Text)
    assert "no open question" in second.body.text


def test_sa_17_a_permission_belongs_to_the_call_that_runs_its_command() -> None:
    sent = source()
    part = {"type": "tool_call", "name": "bash", "arguments": {"command": "git push"}}
    call = {**CALL, "content": [{**part, "call_id": "call_2"}]}
    begun = one(universal(1, "item.started", {"item": call}), sent)
    asked = one(universal(2, "permission.requested", ASKED), sent)
    assert asked.tool == begun.tool


@pytest.mark.parametrize(
    ("status", "runs"),
    [
        ("approved", True),
        ("accept", True),
        ("accept_for_session", True),
        ("denied", False),
        ("reject", False),
    ],
)
def test_sa_19_both_spellings_of_a_status_are_read(status: str, runs: bool) -> None:
    sent = source()
    read(universal(1, "permission.requested", ASKED), sent)
    event = one(universal(2, "permission.resolved", {**ASKED, "status": status}), sent)
    # A call that will not run is named; what was allowed is told by its own events.
    assert isinstance(event.body, Text if runs else ToolCall)


def test_sa_20_a_question_is_asked_with_its_options_and_answered() -> None:
    sent = source()
    question = {
        "question_id": "que_1",
        "prompt": "Which database?",
        "options": ["pg", "sqlite"],
        "response": None,
        "status": "requested",
    }
    asked = one(universal(1, "question.requested", question), sent)
    assert (asked.kind, asked.body) == ("question", Text("Which database? (pg, sqlite)"))
    done = universal(2, "question.resolved", {**question, "response": "pg", "status": "answered"})
    assert one(done, sent).body == Text("Which database?: pg")
    refused = universal(3, "question.resolved", {**question, "status": "rejected"})
    assert one(refused, sent).body == Text("Which database?: rejected")


def test_sa_21_a_line_that_sandbox_agent_could_not_parse_is_shown() -> None:
    lost = {"error": "expected value", "location": "stdout:42", "raw_hash": "9f2c"}
    event = one(universal(1, "agent.unparsed", lost))
    assert event.kind == "unknown"
    assert event.body == Unknown("expected value", '{"location":"stdout:42","raw_hash":"9f2c"}')


def test_sa_b5_a_turn_ends_when_the_stream_says_so() -> None:
    sent = source()
    read(universal(1, "turn.started", {"turn_id": "t1"}), sent)
    ended = one(universal(2, "turn.ended", {"turn_id": "t1"}), sent)
    assert (ended.kind, ended.turn) == ("turn.end", "t1")


def test_a_session_that_ends_says_why() -> None:
    ended = {"reason": "error", "terminated_by": "agent", "message": "exit 1", "exit_code": 1}
    event = one(universal(1, "session.ended", ended))
    assert event.body == SessionChange(what="error", detail="exit 1, by the agent")


def test_events_that_never_came_and_events_that_came_late_are_told() -> None:
    sent = source()
    read(universal(4, "error", {"message": "joined late"}), sent)
    gap, _ = read(universal(7, "error", {"message": "x"}), sent)
    assert (gap.kind, gap.native) == ("notice", "stream.gap")
    assert gap.body == Text("2 events of this source never came: 5 to 6")
    late, _ = read(universal(6, "error", {"message": "x"}), sent)
    assert late.native == "stream.order"


@pytest.mark.parametrize("kind", ["item.started", "weather.changed"])
def test_what_is_not_known_is_shown_as_it_is(kind: str) -> None:
    event = one(universal(1, kind, {"item": {"kind": "hologram", "beam": "blue"}}))
    assert event.kind == "notice"
    assert isinstance(event.body, Text)
    assert "blue" in event.body.text
