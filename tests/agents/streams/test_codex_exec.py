"""`codex exec --json` becomes events, classified as codex_cli_sdk's hooks are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agents.streams.lines import AT, GUESS, command, item, one, read, source
from tests.core.dispatch.hooks.runs import told
from watchgate.agents import streams
from watchgate.core.dispatch.presets import SDK_FIRST_MATCH
from watchgate.core.model.events import Can, Lane, SessionChange, Text, ToolCall, ToolResult, Usage

HOOKED = SDK_FIRST_MATCH.events or frozenset()


def test_sd_1_a_command_that_starts_is_a_call_before_it_ran() -> None:
    event = one(command("started", aggregated_output="", exit_code=None, status="in_progress"))
    assert event.native == "item.started/command_execution"
    assert event.native in HOOKED
    assert event.kind == "tool.pre"
    assert event.tool is not None
    assert (event.tool.name, event.tool.cls) == ("Bash", "shell")


@pytest.mark.parametrize(
    ("fields", "kind", "hooked"),
    [
        ({"status": "completed", "exit_code": 0}, "tool.post", True),
        ({"status": "failed", "exit_code": 1}, "tool.error", True),
        ({"status": "failed"}, "tool.error", True),
        ({"status": "in_progress", "exit_code": None}, "notice", False),
    ],
)
def test_sd_2_how_a_command_ended_is_told_by_its_status(
    fields: dict[str, Any], kind: str, hooked: bool
) -> None:
    event = one(command("completed", aggregated_output="a.py\n", **fields))
    assert event.kind == kind
    assert (event.native == "item.completed/command_execution") is hooked
    assert (event.native in HOOKED) is hooked


def test_sd_b4_an_exit_code_other_than_0_is_a_failure_whatever_the_status_says() -> None:
    event = one(command("completed", aggregated_output="", exit_code=2, status="completed"))
    assert event.kind == "tool.error"
    assert isinstance(event.body, ToolResult)
    assert (event.body.ok, event.body.exit_code) == (False, 2)
    assert event.body.text == "[reported as completed]", "the raw status is kept"


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_sd_3_a_file_change_is_one_event_whatever_became_of_it(status: str) -> None:
    changes = [{"path": "src/a.py", "kind": "update"}, {"path": "src/b.py", "kind": "add"}]
    event = one(item("completed", type="file_change", changes=changes, status=status))
    assert event.native == "item.completed/file_change"
    assert event.native in HOOKED
    assert isinstance(event.body, ToolResult)
    assert event.body.ok is (status == "completed")


def test_sd_3_a_message_of_the_agent_is_its_text() -> None:
    event = one(item("completed", type="agent_message", text="Done."))
    assert event.native == "item.completed/agent_message"
    assert event.native in HOOKED
    assert (event.kind, event.body) == ("message", Text("Done."))


def test_sd_4_a_turn_completes_with_its_usage_or_fails_with_its_reason() -> None:
    used = {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}
    usage, done = read({"type": "turn.completed", "usage": used})
    counted = Usage(input=24763, cache_read=24448, output=122, counts="total", cached_within=True)
    assert usage.body == counted
    thought, _ = read({"type": "turn.completed", "usage": used | {"reasoning_output_tokens": 64}})
    assert thought.body == msgspec.structs.replace(counted, reasoning=64), "a part of the output"
    assert usage.native not in HOOKED, "a hook sees the turn once"
    assert (done.kind, done.native) == ("turn.end", "turn.completed")
    failed = one({"type": "turn.failed", "error": {"message": "stream disconnected"}})
    assert (failed.kind, failed.native) == ("turn.error", "turn.failed")
    assert failed.body == Text("stream disconnected")
    assert {done.native, failed.native} <= HOOKED


@pytest.mark.parametrize(
    "line",
    [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        item("updated", type="todo_list", items=[{"text": "write", "completed": True}]),
        item("completed", type="reasoning", text="Checking"),
        item("started", type="mcp_tool_call", server="fs", tool="read", arguments={"path": "a"}),
        item("completed", type="mcp_tool_call", server="fs", tool="read", status="completed"),
        item("completed", type="web_search", query="textual workers"),
        item("completed", type="error", message="non-fatal"),
        {"type": "exec_approval_request", "call_id": "c1", "command": ["git", "push"]},
        {"type": "error", "message": "unrecoverable"},
    ],
    ids=lambda line: f"{line['type']}/{line.get('item', {}).get('type', '')}",
)
def test_sd_5_events_that_no_hook_of_the_sdk_knows_have_other_names(line: dict[str, Any]) -> None:
    for event in read(line):
        assert event.native not in HOOKED


def test_sd_6_a_hook_can_be_given_the_command_the_exit_code_and_the_text() -> None:
    sent = source()
    read(command("started", status="in_progress"), sent)
    event = one(command("completed", exit_code=3, status="failed", aggregated_output="x"), sent)
    assert isinstance(event.body, ToolResult)
    assert event.body.tool.input == {"command": "bash -lc 'ls'"}
    assert (event.body.exit_code, event.body.text) == (3, "x")
    failed = one({"type": "turn.failed", "error": {"message": "stream disconnected"}}, sent)
    assert failed.tool is None, "a command is named by items of a command only"


def test_sd_6_a_hook_command_is_told_the_event_the_command_the_exit_code_and_the_text() -> None:
    sent = source()
    begun = told("console", one(command("started", status="in_progress"), sent))
    assert begun["native"] == "item.started/command_execution"
    assert begun["tool"]["input"] == {"command": "bash -lc 'ls'"}
    assert "exit_code" not in begun, "only a command that ended has one"
    line = command("completed", exit_code=3, status="failed", aggregated_output="no such file")
    done = told("console", one(line, sent))
    assert done["native"] == "item.completed/command_execution"
    assert done["tool"]["input"] == {"command": "bash -lc 'ls'"}
    assert (done["exit_code"], done["ok"], done["text"]) == (3, False, "no such file")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (item("completed", type="agent_message", text="Done."), "Done."),
        ({"type": "turn.failed", "error": {"message": "disconnected"}}, "disconnected"),
    ],
    ids=["message", "failure"],
)
def test_sd_6_a_hook_command_is_told_the_words_of_a_message_and_of_a_failed_turn(
    line: dict[str, Any], text: str
) -> None:
    heard = told("console", one(line))
    assert (heard["text"], heard["tool"]) == (text, None)


def test_a_codex_event_is_of_the_folder_that_its_tap_runs_in() -> None:
    sent = source()
    assert streams.read_line({"watchgate": 1, "tap": "codex", "cwd": "/srv/app"}, sent, AT) == []
    lines: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "t"},
        command("started", status="in_progress"),
        command("completed", exit_code=0, status="completed"),
        {"type": "turn.completed"},
    ]
    assert [event.cwd for line in lines for event in read(line, sent)] == ["/srv/app"] * 4
    assert one(command("started")).cwd == "", "without a tap nobody said where"


def test_sd_7_an_event_knows_its_thread_and_how_many_turns_are_done() -> None:
    sent = source()
    before = one({"type": "turn.started"}, sent)
    assert before.session == GUESS, "no thread is known yet"
    (start,) = read({"type": "thread.started", "thread_id": "0199a213"}, sent)
    assert (start.kind, start.session) == ("session.start", "0199a213")
    assert one({"type": "turn.started"}, sent).turn == "1"
    read({"type": "turn.completed"}, sent)
    later = one(command("started", status="in_progress"), sent)
    assert (later.session, later.turn) == ("0199a213", "2")


def test_sd_19_nothing_can_be_told_about_what_a_stream_reports() -> None:
    for line in (command("started"), {"type": "exec_approval_request", "call_id": "c"}):
        event = one(line)
        assert event.lane is Lane.OBSERVE
        assert event.can == Can()


@pytest.mark.parametrize(
    ("kind", "name", "fields"),
    [
        ("exec_approval_request", "Bash", {"command": ["git", "push"], "cwd": "/srv/app"}),
        ("apply_patch_approval_request", "Edit", {"changes": {}, "cwd": "/srv/app"}),
    ],
)
def test_sd_22_the_two_kinds_of_approval_request_are_told_apart(
    kind: str, name: str, fields: dict[str, Any]
) -> None:
    event = one({"type": kind, "call_id": "call_9", "turn_id": "t", **fields})
    assert (event.kind, event.native, event.cwd) == ("tool.permission", kind, "/srv/app")
    assert event.tool is not None
    assert event.tool.name == name


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (item("completed", type="hologram", beam="blue"), '{"beam":"blue"}'),
        ({"type": "thread.forked", "from": "t0"}, '{"from":"t0"}'),
        (command("completed", status="paused"), "paused"),
    ],
)
def test_sd_b8_what_a_later_version_adds_is_shown_as_it_is(
    line: dict[str, Any], shown: str
) -> None:
    event = one(line)
    assert event.kind == "notice"
    assert isinstance(event.body, Text)
    assert shown in event.body.text


def test_sd_b8_a_declined_command_is_a_call_that_did_not_run() -> None:
    sent = source()
    read(command("started", status="in_progress"), sent)
    event = one(command("completed", status="declined"), sent)
    assert event.kind == "tool.permission.resolved"
    assert isinstance(event.body, ToolCall)
    assert event.native not in HOOKED


def test_the_end_of_a_command_belongs_to_its_begin() -> None:
    sent = source(pid=4711)
    begun = one(command("started", status="in_progress"), sent).tool
    done = one(command("completed", exit_code=0, status="completed"), sent).tool
    assert begun is not None
    assert begun == done
    assert begun.call_id == "item_1@4711", "a resumed thread counts its items anew"


def test_a_guessed_session_is_shown_as_a_guess_once() -> None:
    sent = source()
    first = streams.read_line({"type": "turn.started"}, sent, one({"type": "turn.started"}).at)
    assert first is not None
    assert [event.native for event in first] == ["session.guessed", "turn.started"]
    assert isinstance(first[0].body, SessionChange)
    assert first[0].body.what == "guessed"
    again = streams.read_line({"type": "turn.started"}, sent, first[0].at)
    assert again is not None
    assert len(again) == 1
