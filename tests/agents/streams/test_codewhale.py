"""CodeWhale's three forms become events: its sinks, its runtime and its outbox."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.streams.lines import GUESS, frame, one, read, runtime, source, whale
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event, SessionChange, Text, ToolCall, ToolResult
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.service.policies.policy_files import shipped

PRECHECK = {
    "execution_kind": "shell",
    "command": "git push origin main",
    "cwd": "/srv/app",
    "allow": True,
    "requires_approval": True,
    "matched_rule": "git push",
    "phase": "needs_approval",
    "reason": "push needs approval",
}
REQUEST = {
    "call_id": "tool-call-7",
    "approval_id": "approval-5e",
    "turn_id": "tool-1",
    "command": "git push origin main",
    "cwd": "/srv/app",
    "reason": "push needs approval",
    "available_decisions": [{"type": "approved"}, {"type": "denied"}],
}
START = {"event": "tool_call_start", "response_id": "tool-1", "tool_name": "exec_shell"}
RESULT = {"event": "tool_call_result", "response_id": "tool-1", "tool_name": "exec_shell"}


def lifecycle(phase: str, payload: Any = None, call: str = "tool-1") -> dict[str, Any]:
    return whale(
        {
            "type": "tool_lifecycle",
            "response_id": call,
            "tool_name": "exec_shell",
            "phase": phase,
            "payload": payload,
        }
    )


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    sent = source()
    return [event.kind for line in lines for event in read(line, sent)]


@pytest.mark.parametrize(
    "at",
    [
        "2026-05-31T11:19:28+00:00",
        "2026-05-31T11:19:28.1+00:00",
        "2026-05-31T11:19:28.100000+00:00",
        "2026-05-31T11:19:28.100000123+00:00",
        "2026-05-31T13:19:28.1+02:00",
    ],
)
def test_cw_5_a_stamp_may_have_any_number_of_digits(at: str) -> None:
    sent = source()
    read(whale(lifecycle("precheck", PRECHECK)["event"], "2026-05-31T11:19:26.1+00:00"), sent)
    read(frame({**START, "arguments": {}}), sent)
    done = one(whale(lifecycle("completed", {"ok": True})["event"], at), sent)
    assert isinstance(done.body, ToolResult)
    assert done.body.took_ms in (1_900, 2_000), "the stamp was read"


@pytest.mark.parametrize(
    ("phase", "ok", "kind"),
    [
        ("completed", True, "tool.post"),
        ("completed", False, "tool.error"),
        ("failed", True, "tool.error"),
    ],
)
def test_a_call_that_completed_without_success_failed(phase: str, ok: bool, kind: str) -> None:
    sent = source()
    read(whale(lifecycle("precheck", PRECHECK)["event"]), sent)
    read(frame({**START, "arguments": {}}), sent)
    assert one(whale(lifecycle(phase, {"ok": ok})["event"]), sent).kind == kind


def test_cw_5_a_stamp_that_is_none_costs_the_duration_only() -> None:
    assert one(whale({"type": "response_end", "response_id": "r"}, "yesterday")).kind != "unknown"


@pytest.mark.parametrize(
    ("given", "native", "kind"),
    [
        ({"event": "response_delta", "delta": "t"}, "response_delta", "message"),
        (
            {"event": "response_delta", "delta": "t", "channel": "reasoning"},
            "response_delta/reasoning",
            "message",
        ),
        ({"event": "response_start"}, "response_start", "model.request"),
        ({"event": "response_end"}, "response_end", "model.response"),
        ({"event": "error", "message": "denied"}, "error", "notice"),
    ],
)
def test_cw_11_a_frame_is_named_by_its_own_event_and_may_leave_fields_out(
    given: dict[str, Any], native: str, kind: str
) -> None:
    event = one(frame({"response_id": "resp-1", **given}))
    assert (event.native, event.kind) == (native, kind)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"event": "mcp_startup_update", "update": {"server_name": "fs", "status": "x"}}, "notice"),
        ({"event": "mcp_startup_complete", "summary": {"ready": ["fs"]}}, "notice"),
        ({"event": "mcp_tool_call_begin", "server_name": "fs", "tool_name": "read"}, "notice"),
        ({"event": "exec_command_begin", "command": "ls", "cwd": "/srv/app"}, "notice"),
        ({"event": "exec_command_end", "command": "ls", "exit_code": 0}, "notice"),
        ({"event": "patch_apply_end", "path": "src/a.py", "ok": True}, "notice"),
        ({"event": "turn_started", "turn_id": "turn-12"}, "model.request"),
        ({"event": "turn_complete", "turn_id": "turn-12"}, "turn.end"),
        ({"event": "turn_aborted", "turn_id": "t", "reason": "user"}, "turn.interrupt"),
        ({"event": "exec_approval_request", "request": REQUEST}, "tool.permission"),
        ({"event": "apply_patch_approval_request", "request": REQUEST}, "tool.permission"),
        (
            {"event": "user_input_request", "request": {"questions": [{"question": "Which?"}]}},
            "question",
        ),
        (
            {
                "event": "elicitation_request",
                "server_name": "fs",
                "request_id": "e1",
                "prompt": "Token?",
            },
            "question",
        ),
        ({"event": "hologram", "beam": "blue"}, "notice"),
    ],
)
def test_cw_11_every_frame_has_its_kind(given: dict[str, Any], kind: str) -> None:
    event = one(frame(given))
    assert (event.kind, event.native) == (kind, given["event"])


def test_cw_16_an_allowed_call_is_one_call_although_it_is_told_twice() -> None:
    done = {"type": "function", "body": "pushed", "success": True}
    lines = [
        lifecycle("precheck", PRECHECK),
        frame({**START, "arguments": {"type": "local_shell", "params": {"command": "git push"}}}),
        lifecycle("dispatching", {"call_id": "tool-call-7", "execution_kind": "shell"}),
        frame({**RESULT, "output": done}),
        lifecycle("completed", {"ok": True}),
    ]
    sent = source()
    events = [event for line in lines for event in read(line, sent)]
    told = [event.kind for event in events]
    assert told == ["tool.pre", "notice", "notice", "tool.post", "notice"]
    assert isinstance(events[3].body, ToolResult)
    assert events[3].body.text == "pushed"
    assert events[3].tool == events[0].tool
    assert events[0].cwd == "/srv/app"
    assert events[0].tool is not None
    assert events[0].tool.input == {"command": "git push origin main"}


def test_cw_16_a_call_that_fails_ends_as_a_failure() -> None:
    error = {"event": "error", "response_id": "tool-1", "message": "exit 1"}
    start = frame({**START, "arguments": {}})
    assert kinds([start, frame(error), lifecycle("failed", {"error": "exit 1"})]) == [
        "tool.pre",
        "tool.error",
        "notice",
    ]


def told_of(tool: str, payload: dict[str, Any], phase: str = "precheck") -> dict[str, Any]:
    """A lifecycle line about a call of some tool."""
    return whale(lifecycle(phase, payload)["event"] | {"tool_name": tool})


def starts(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return frame({**START, "tool_name": tool, "arguments": arguments})


def judged(event: Event) -> Assessment:
    assert event.tool is not None
    subject = Subject(tool=event.tool, agent="codewhale", cwd="/srv/app", home="/home/ada")
    return assess(subject, shipped(), 0)


@pytest.mark.parametrize("tool", ["exec_shell", "shell", "bash", "Bash", "Run", "conch"])
def test_a_shell_is_one_by_its_name_or_by_what_carries_it_out(tool: str) -> None:
    command = {"execution_kind": "shell", "command": "rm -rf / --no-preserve-root", "cwd": "/srv"}
    event = one(told_of(tool, command))

    assert event.tool is not None
    assert (event.kind, event.tool.cls, event.tool.name) == ("tool.pre", "shell", "Bash")
    assert event.tool.input == {"command": "rm -rf / --no-preserve-root"}
    assert judged(event).risk == "critical"


def test_a_function_tool_is_one_call_with_the_arguments_that_come_later() -> None:
    given = {"type": "function", "arguments": '{"path":"/etc/shadow"}'}
    about = {"execution_kind": "function", "command": "read_file", "cwd": "/srv/app"}
    lines = [
        told_of("read_file", about),
        starts("read_file", given),
        told_of("read_file", {"execution_kind": "function"}, "dispatching"),
        told_of("read_file", {"ok": True}, "completed"),
    ]
    sent = source()
    events = [event for line in lines for event in read(line, sent)]

    assert [event.kind for event in events] == [
        "notice",
        "tool.pre",
        "notice",
        "notice",
        "tool.post",
    ]
    begun = events[1]
    assert begun.tool is not None
    assert (begun.tool.cls, begun.tool.input) == ("read", {"path": "/etc/shadow"})
    assert begun.cwd == "/srv/app"
    assert events[4].tool == begun.tool
    assert judged(begun).risk == "high"


def test_a_file_tool_is_judged_by_the_file_that_it_writes() -> None:
    sent = source()
    read(told_of("File", {"execution_kind": "function", "command": "File"}), sent)
    given = {"type": "function", "arguments": '{"action":"write","path":"/etc/passwd"}'}
    begun = read(starts("File", given), sent)[0]

    assert begun.tool is not None
    assert (begun.tool.cls, begun.tool.name) == ("edit", "Edit")
    assert judged(begun).risk == "high"


@pytest.mark.parametrize(
    "ends",
    [
        told_of("read_file", {"ok": True}, "completed"),
        told_of("read_file", {"execution_kind": "function"}, "dispatching"),
        frame({"event": "error", "response_id": "tool-1", "message": "denied"}),
    ],
)
def test_a_call_whose_arguments_never_come_is_not_said_to_read_inside(ends: dict[str, Any]) -> None:
    sent = source()
    noted = one(told_of("read_file", {"command": "read_file", "cwd": "/srv/app"}), sent)
    begun, after = read(ends, sent)

    assert (noted.kind, begun.kind) == ("notice", "tool.pre")
    assert after.kind in ("tool.post", "notice", "tool.permission.resolved")
    assert begun.tool is not None
    assert (begun.tool.native_name, begun.tool.input) == ("read_file", {})
    assert "files.read-inside" not in {finding.rule for finding in judged(begun).findings}
    assert judged(begun).decision == "ask"


def test_a_question_about_a_call_that_was_only_named_belongs_to_it() -> None:
    sent = source()
    read(told_of("read_file", {"command": "read_file"}), sent)
    asked = frame({"event": "exec_approval_request", "request": REQUEST | {"command": "read_file"}})
    begun, question = read(asked, sent)

    assert (begun.kind, question.kind) == ("tool.pre", "tool.permission")
    assert question.tool == begun.tool


def test_cw_17_a_forbidden_call_did_not_run() -> None:
    denied = {"type": "approval_lifecycle", "approval_id": "a", "phase": "denied", "reason": "no"}
    error = {"event": "error", "response_id": "tool-1", "message": "denied"}
    lines = [lifecycle("precheck", PRECHECK), whale(denied), frame(error)]
    assert kinds(lines) == ["tool.pre", "notice", "tool.permission.resolved"]


def test_cw_18_a_question_belongs_to_the_call_of_its_command_not_to_its_turn_id() -> None:
    asked = {"type": "approval_lifecycle", "approval_id": "a", "phase": "requested", "reason": "r"}
    sent = source()
    (before,) = read(lifecycle("precheck", PRECHECK), sent)
    note = one(whale(asked), sent)
    question = one(frame({"event": "exec_approval_request", "request": REQUEST}), sent)
    assert note.body == Text("r")
    assert question.kind == "tool.permission"
    assert question.tool == before.tool
    assert question.turn is None, "turn_id is the response id here"


def test_cw_19_a_tool_that_timed_out_failed() -> None:
    sent = source()
    read(lifecycle("precheck", PRECHECK), sent)
    late = {"error": "Tool 'exec_shell' timed out after 300s", "timeout": True}
    event = one(lifecycle("failed", late), sent)
    assert event.kind == "tool.error"
    assert isinstance(event.body, ToolResult)
    assert "timed out after 300s" in event.body.text


def required(seq: int = 42) -> dict[str, Any]:
    asked = {"id": "call_9", "approval_id": "call_9", "tool_name": "exec_shell"}
    return runtime(seq, "approval.required", {**asked, "description": "git push"})


def decided(seq: int, decision: str, **more: Any) -> dict[str, Any]:
    return runtime(seq, "approval.decided", {"approval_id": "call_9", "decision": decision, **more})


def test_cw_20_an_approval_that_nobody_answers_times_out_and_is_denied() -> None:
    sent = source()
    asked = one(required(), sent)
    late = one(
        runtime(43, "approval.timeout", {"approval_id": "call_9", "timeout_secs": 300}), sent
    )
    denied = one(decided(44, "deny", remember=False, timeout=True), sent)
    assert [asked.kind, late.kind, denied.kind] == [
        "tool.permission",
        "notice",
        "tool.permission.resolved",
    ]
    assert {event.session for event in (asked, late, denied)} == {"thr_1"}
    assert isinstance(denied.body, ToolCall)
    assert denied.tool == asked.tool


def test_cw_21_a_denial_without_a_question_is_told_as_one() -> None:
    event = one(decided(42, "deny"))
    assert event.kind == "tool.permission.resolved"
    assert isinstance(event.body, Text)
    assert "deny" in event.body.text


def test_cw_22_a_remembered_allow_is_said_to_open_the_whole_thread() -> None:
    sent = source()
    read(required(), sent)
    event = one(decided(43, "allow", remember=True), sent)
    assert isinstance(event.body, Text)
    assert "asks for no call of this thread any more" in event.body.text


def test_cw_b13_lines_without_a_session_are_told_apart_by_their_process() -> None:
    from tests.agents.streams.lines import AT
    from watchgate.agents import streams

    found = streams.read_line(whale({"type": "response_end", "response_id": "r"}), source(), AT)
    assert found is not None
    told, event = found
    assert (event.agent, event.session) == ("codewhale", GUESS)
    assert isinstance(told.body, SessionChange)
    assert told.body.what == "guessed"


def test_cw_b14_an_event_named_after_its_turn_belongs_to_the_known_session() -> None:
    sent = source()
    first = one(runtime(1, "turn.started", {}), sent)
    odd = one(runtime(2, "tool_call_before", {}, thread_id=None, session_id="turn_5"), sent)
    bare = one(whale({"type": "response_end", "response_id": "r"}), sent)
    assert {event.session for event in (first, odd, bare)} == {"thr_1"}


@pytest.mark.parametrize("phase", ["start", "end", "approved", "precheck", "levitating"])
def test_cw_b15_any_phase_is_shown_in_its_own_word(phase: str) -> None:
    event = one(lifecycle(phase, {"x": 1}))
    assert event.native == f"tool_lifecycle/{phase}"
    job = {"type": "job_lifecycle", "job_id": "job-3", "phase": phase, "progress": 40}
    told = one(whale({**job, "detail": None}))
    assert told.body == Text(f"job-3 {phase} 40%")


def test_cw_b15_an_event_that_no_version_declares_is_shown() -> None:
    event = one(whale({"type": "weather", "sky": "blue"}))
    assert (event.kind, event.native, event.body) == ("notice", "weather", Text('{"sky":"blue"}'))


def test_cw_b16_numbers_that_never_came_leave_a_gap_row() -> None:
    sent = source()
    read(runtime(4, "turn.started", {}), sent)
    gap, _ = read(runtime(8, "turn.completed", {}), sent)
    assert (gap.native, gap.body) == (
        "stream.gap",
        Text("3 events of this source never came: 5 to 7"),
    )


def test_cw_b16_numbers_that_were_for_others_are_no_gap() -> None:
    sent = source()
    read(runtime(38, "turn.started", {}), sent)
    assert len(read(runtime(42, "message", {}, previous_seq=38), sent)) == 1
    gap, _ = read(runtime(50, "message", {}, previous_seq=44), sent)
    assert gap.body == Text("2 events of this source never came: 43 to 44")


def gone(lines: list[dict[str, Any]]) -> list[Event]:
    from tests.agents.streams.lines import AT

    sent = source()
    for line in lines:
        read(line, sent)
    return [*sent.gone(AT), *sent.gone(AT)]


def test_cw_b17_what_a_killed_source_left_open_is_closed_once() -> None:
    turn = frame({"event": "turn_started", "turn_id": "turn-12"})
    asks = frame({"event": "exec_approval_request", "request": REQUEST})
    denied, ended = gone([turn, lifecycle("precheck", PRECHECK), asks])
    assert (denied.kind, denied.native) == ("tool.permission.resolved", "source.gone")
    assert isinstance(denied.body, ToolCall), "an open question is over, and its call did not run"
    assert (ended.kind, ended.turn) == ("turn.interrupt", "turn-12")
    assert isinstance(ended.body, Text)
    assert "source gone" in ended.body.text
    assert "turn turn-12, 1 tool call, 1 permission question" in ended.body.text


def test_cw_b17_a_source_that_left_nothing_open_just_goes() -> None:
    turn = frame({"event": "turn_started", "turn_id": "turn-12"})
    over = frame({"event": "turn_complete", "turn_id": "turn-12"})
    assert gone([turn, lifecycle("precheck", PRECHECK), over]) == []
