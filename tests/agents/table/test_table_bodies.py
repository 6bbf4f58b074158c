"""What a payload means by its table."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agents.tables import HAL, TABLE, decoded, intake
from watchgate.agents.base import DecodeError
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.model.events import (
    Can,
    Lane,
    SessionChange,
    Sub,
    Text,
    ToolBatch,
    ToolCall,
    ToolResult,
    Usage,
)

CALL = {"name": "peek", "args": {"path": "a"}, "id": "c-7"}


def test_what_every_event_has_is_found_at_its_places() -> None:
    event = decoded("before", call=CALL, turn="t-1", pod="p-1", pod_kind="scout")

    assert (event.kind, event.native, event.agent) == ("tool.pre", "before", "hal")
    assert (event.session, event.cwd, event.turn) == ("s-1", "/ship", "t-1")
    assert event.sub == Sub("p-1", "scout")


def test_the_first_place_that_has_a_value_wins() -> None:
    assert decoded("idle", ship={"id": "", "name": "Discovery"}).session == "Discovery"
    assert decoded("idle", ship={"id": 9000}).session == "9000"


def test_the_events_name_may_come_with_the_hooks_command() -> None:
    event = HAL.decode(b'{"ship":{"id":"s"}}', intake(native="idle"))

    assert (event.native, event.kind) == ("idle", "notice")


def test_a_call_has_its_tool_under_the_name_that_rules_know() -> None:
    tool = decoded("before", call=CALL).tool

    assert tool is not None
    assert (tool.name, tool.native_name, tool.cls, tool.call_id) == ("Read", "peek", "read", "c-7")
    assert tool.input == {"path": "a"}


@pytest.mark.parametrize(
    ("name", "shown", "cls"),
    [
        ("sh", "Bash", "shell"),
        ("mcp__git__push", "git:push", "mcp"),
        ("@git/push", "git:push", "mcp"),
        ("MCP:push", "mcp:push", "mcp"),
        ("later", "later", "other"),
    ],
)
def test_tools_are_named_and_classed(name: str, shown: str, cls: str) -> None:
    tool = decoded("before", call={"name": name}).tool

    assert tool is not None
    assert (tool.name, tool.native_name, tool.cls) == (shown, name, cls)


@pytest.mark.parametrize(
    ("args", "kept"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("rm -rf /", {"input": "rm -rf /"}),
        ("[1]", {"input": [1]}),
        ([1, 2], {"input": [1, 2]}),
        (7, {"input": 7}),
        (False, {"input": False}),
        (None, {}),
    ],
)
def test_the_input_of_a_call_is_never_lost(args: Any, kept: dict[str, Any]) -> None:
    tool = decoded("before", call={"name": "peek", "args": args}).tool

    assert tool is not None
    assert tool.input == kept


def test_an_event_that_says_which_tool_runs_gathers_its_input() -> None:
    tool = decoded("shell", run={"line": "ls", "shell": "zsh"}).tool

    assert tool is not None
    assert (tool.name, tool.native_name, tool.input) == ("Bash", "sh", {"command": "ls"})


def test_an_input_that_is_not_where_it_should_be_is_kept_with_all_the_rest() -> None:
    tool = decoded("shell", command="ls").tool

    assert tool is not None
    assert tool.input == {"command": "ls"}


def test_a_tools_name_may_be_put_together() -> None:
    tool = decoded("remote", info={"server": "git", "tool": "push", "args": {"to": "x"}}).tool

    assert tool is not None
    assert (tool.name, tool.input) == ("git:push", {"to": "x"})


def test_a_result_says_whether_the_call_failed_and_why() -> None:
    fine = decoded("after", call=CALL, out={"stdout": "ok"}, status=0, duration_ms=12.6)
    bad = decoded("after", call=CALL, out="half", fault={"text": "no air"}, is_interrupt=True)
    worse = decoded("broke", call=CALL)

    assert isinstance(fine.body, ToolResult)
    assert (fine.body.ok, fine.body.text) == (True, "ok")
    assert (fine.body.took_ms, fine.body.exit_code) == (13, 0)
    assert isinstance(bad.body, ToolResult)
    assert (bad.body.ok, bad.body.text, bad.body.interrupted) == (False, "no air", True)
    assert isinstance(worse.body, ToolResult)
    assert not worse.body.ok


def test_a_batch_names_all_its_calls() -> None:
    calls = [{"name": "peek", "args": {"path": "a"}}, {"name": "sh"}]

    body = decoded("several", tool_calls=calls).body

    assert isinstance(body, ToolBatch)
    assert [tool.name for tool in body.tools] == ["Read", "Bash"]


def test_words_changes_and_counts() -> None:
    assert decoded("said", who="Dave", words="open").body == Text("Dave: open")
    assert decoded("said", words="").body == Text("")
    began = decoded("began", how="cold", note="fast", model="h-9", transcript_path="/t")
    assert began.body == SessionChange("cold", "fast", "h-9", "/t")
    assert decoded("began").body == SessionChange("began")
    assert decoded("spent", tokens={"in": 3}).body == Usage(input=3)
    thought = decoded("spent", tokens={"in": 3, "out": 5, "thought": 4}).body
    assert thought == Usage(input=3, output=9, reasoning=4)


def test_an_unknown_event_is_a_notice_with_all_its_own_fields() -> None:
    event = decoded("of next year", lamp="red", turn="t-1")

    assert (event.kind, event.native) == ("notice", "of next year")
    assert event.body == Text('{"lamp":"red"}')


def test_a_question_about_no_tool_becomes_a_call_of_its_own_name() -> None:
    event = decoded("form", ask="why?")

    assert event.kind == "question"
    assert isinstance(event.body, ToolCall)
    assert (event.body.tool.name, event.body.tool.cls) == ("form", "question")
    assert event.body.tool.input == {"ask": "why?"}


def test_a_permission_asked_for_a_question_or_a_plan_is_that_question() -> None:
    asked = decoded("asks", lane=Lane.RELAY, call={"name": "ask_human"})
    plan = decoded("asks", lane=Lane.RELAY, call={"name": "show_plan"})

    assert (asked.kind, plan.kind) == ("question", "question")
    assert not asked.can.allow
    assert HAL.kinds >= {"question", "notice", "tool.pre"}


def test_only_lanes_that_wait_can_be_told_anything() -> None:
    gated, seen = decoded("before", call=CALL), decoded("before", lane=Lane.OBSERVE, call=CALL)

    assert gated.can == Can(allow=True, deny=True, modify=True, stop=True)
    assert (gated.deadline_s, seen.deadline_s, seen.can) == (9.0, None, Can())
    assert decoded("asks", lane=Lane.RELAY, call=CALL).asks_every_call


def test_the_mode_says_who_watches_and_what_runs_unasked() -> None:
    modes = {
        mode: decoded("before", call=CALL, permission_mode=mode)
        for mode in ("careful", "alone", "wild")
    }

    assert [event.autonomous for event in modes.values()] == [False, True, True]
    assert [event.runs_unasked for event in modes.values()] == [False, False, True]
    assert not decoded("asks", call=CALL, permission_mode="wild").runs_unasked


def test_a_call_whose_payload_names_no_mode_may_run_unasked() -> None:
    assert decoded("before", call=CALL).runs_unasked
    assert decoded("before", call=CALL, permission_mode="").runs_unasked


@pytest.mark.parametrize(
    ("payload", "missing"),
    [
        (b"", "not a hook payload"),
        (b"[1]", "no JSON object"),
        (b'"a"', "no JSON object"),
        (b"\xff", "not a hook payload"),
        (b"{}", r"does not name its event \(type\)"),
        (b'{"type":"idle"}', r"does not name its session \(ship.id or ship.name\)"),
        (b'{"type":"before","ship":{"id":"s"}}', r"does not name its tool \(call.name\)"),
        (b'{"type":"several","ship":{"id":"s"}}', r"lists no calls \(tool_calls\)"),
        (b'{"type":"idle","ship":{"id":"' + b"s" * 513 + b'"}}', "over 512 characters"),
    ],
)
def test_what_cannot_be_read_says_what_is_missing(payload: bytes, missing: str) -> None:
    with pytest.raises(DecodeError, match=missing):
        HAL.decode(payload, intake())


def test_an_agent_that_names_no_session_has_one_for_all() -> None:
    nameless = TableAdapter(msgspec.structs.replace(TABLE, no_session="the ship"))

    assert nameless.decode(b'{"type":"idle"}', intake()).session == "the ship"
