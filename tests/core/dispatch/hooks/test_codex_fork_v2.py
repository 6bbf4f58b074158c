"""The second hook protocol of the codex fork."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

from tests.core.builders import other, permission, post, pre, shell
from tests.core.dispatch.hooks.runs import calling, ended, env, report, told, verdict
from watchgate.core.dispatch.hooks.codex_fork import FIRED, PLANNED
from watchgate.core.dispatch.hooks.rewrites import AMBIGUOUS, MISSING
from watchgate.core.dispatch.presets import CODEX_FORK_V2
from watchgate.core.model.events import Event, SessionChange
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Modify, Report

NAME: Final = "codex-fork-v2"
START = msgspec.structs.replace(
    other("session.start"), body=SessionChange("startup", model="m", transcript="/t.jsonl")
)


def test_cx_40_the_payload_is_flat_and_its_input_an_object() -> None:
    assert told(NAME, pre(shell("ls -la"), mode="on-request")) == {
        "session_id": "one",
        "cwd": "/home/u/app",
        "triggered_at": "2025-06-15T15:06:40Z",
        "hook_event_name": "PreToolUse",
        "permission_mode": "on-request",
        "event_type": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -la"},
    }


def test_cx_40_the_transcript_is_named_where_it_is_known() -> None:
    assert told(NAME, START)["transcript_path"] == "/t.jsonl"
    assert "transcript_path" not in told(NAME, pre())


def test_cx_41_six_events_are_fired_and_eight_are_planned() -> None:
    assert set(FIRED.values()) == {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "AfterAgent",
        "SessionStart",
        "SessionEnd",
    }
    assert len(PLANNED) == 8


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (post(), {"hook_event_name": "PostToolUse", "tool_response": ""}),
        (post(ok=False), {"hook_event_name": "PostToolUseFailure", "error": ""}),
        (START, {"hook_event_name": "SessionStart", "source": "startup", "model": "m"}),
        (other("session.end"), {"hook_event_name": "SessionEnd", "reason": "words"}),
        (other("turn.end"), {"hook_event_name": "AfterAgent", "last_assistant_message": "words"}),
        (permission(), {"hook_event_name": "PermissionRequest", "tool_name": "Bash"}),
        (other("prompt.submit"), {"hook_event_name": "UserPromptSubmit", "prompt": "words"}),
        (other("notice"), {"hook_event_name": "Notification", "message": "words"}),
        (other("agent.start"), {"hook_event_name": "SubagentStart", "task": "words"}),
        (other("usage"), {"hook_event_name": "Notification"}),
    ],
)
def test_cx_41_each_event_carries_its_own_fields(event: Event, fields: dict[str, object]) -> None:
    assert told(NAME, event).items() >= fields.items()


def test_the_folder_and_the_session_are_variables_too() -> None:
    assert env(NAME, pre()) == {
        "CLAUDE_PROJECT_DIR": "/home/u/app",
        "CODEX_PROJECT_DIR": "/home/u/app",
        "CLAUDE_SESSION_ID": "one",
        "CODEX_SESSION_ID": "one",
    }


def test_cx_42_exit_2_blocks_a_call_with_stderr_or_a_default() -> None:
    assert verdict(NAME, ended(exit_code=2, stderr="denied\n")) == Block("denied")
    silent = verdict(NAME, ended(exit_code=2))
    assert isinstance(silent, Block)
    assert silent.reason.startswith("Blocked by PreToolUse hook")


@pytest.mark.parametrize("event", [post(), post(ok=False), START, other("turn.end")])
def test_cx_42_exit_2_is_only_a_warning_where_nothing_can_be_blocked(event: Event) -> None:
    said = verdict(NAME, ended(exit_code=2, stderr="too late"), event)
    assert isinstance(said, Defer)
    assert said.reason.startswith("warning: exited with 2")
    assert said.reason.endswith("too late")


@pytest.mark.parametrize("exit_code", [1, 3, 127])
def test_cx_43_any_other_failing_exit_lets_the_call_go_on(exit_code: int) -> None:
    said = verdict(NAME, ended({"decision": "block"}, exit_code, "warned"))
    assert said == Failed("exit", f"exited with {exit_code}: warned")
    assert isinstance(CODEX_FORK_V2.failure, dict)
    assert CODEX_FORK_V2.failure["exit"] == "open"


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ({"decision": "proceed"}, Allow()),
        ({}, Defer()),
        ({"decision": "block", "reason": "denied"}, Block("denied")),
        ({"decision": "block", "message": "old word"}, Block("old word")),
        ({"decision": "block"}, Block("Blocked by PreToolUse hook")),
        ({"decision": "modify"}, Block(MISSING)),
        ({"decision": "modify", "content": '{"command":"ls"}'}, Modify({"command": "ls"})),
        (
            {"hookSpecificOutput": {"permissionDecision": "deny"}},
            Block("Blocked by PreToolUse hook"),
        ),
        ({"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}, Modify({"command": "ls"})),
    ],
)
def test_each_decision_is_one_verdict(answer: dict[str, object], means: object) -> None:
    assert verdict(NAME, ended(answer)) == means


def test_a_block_of_what_is_over_is_only_a_warning() -> None:
    said = verdict(NAME, ended({"decision": "block", "reason": "late"}), post())
    assert said == Defer("warning: it said block, which blocks nothing at tool.post: late")


@pytest.mark.parametrize("key", ["system_message", "systemMessage"])
def test_messages_are_for_the_model(key: str) -> None:
    answer = {
        "decision": "block",
        "reason": "no",
        key: "policy 7",
        "hookSpecificOutput": {"additionalContext": "use a branch"},
    }
    assert report(NAME, ended(answer)).text == "policy 7\n\nuse a branch"


def test_env_of_an_answer_is_read_by_nobody() -> None:
    assert report(NAME, ended({"env": {"A": "1"}}), START) == Report(verdict=Defer())


@pytest.mark.parametrize("native_name", ["Bash", "shell", "exec_command", "run_in_terminal"])
@pytest.mark.parametrize("field", ["command", "cmd"])
def test_cx_48_every_shell_like_tool_has_one_name_and_its_text_in_command(
    native_name: str, field: str
) -> None:
    shown = told(NAME, calling(native_name, {field: "rm -rf /", "yield_ms": 5}, "shell"))
    assert shown["tool_name"] == "Bash"
    assert shown["tool_input"] == {"command": "rm -rf /", "yield_ms": 5}


def test_cx_48_a_harmless_command_does_not_hide_a_cmd() -> None:
    event = calling("exec_command", {"command": "ls", "cmd": "rm -rf /"}, "shell")
    assert told(NAME, event)["tool_input"] == {"command": "ls\nrm -rf /"}
    run = ended({"decision": "modify", "content": '{"command":"ls"}'})
    assert verdict(NAME, run, event) == Block(AMBIGUOUS)


def test_cx_48_arguments_are_shown_as_one_quoted_line() -> None:
    event = calling("shell", {"command": ["bash", "-lc", "rm -rf /"]}, "shell")
    assert told(NAME, event)["tool_input"] == {"command": "bash -lc 'rm -rf /'"}


def test_cx_48_a_rewrite_goes_back_in_the_agents_own_field() -> None:
    event = calling("exec_command", {"cmd": "git push", "yield_ms": 5}, "shell")
    run = ended({"decision": "modify", "content": '{"command":"git status","yield_ms":5}'})
    assert verdict(NAME, run, event) == Modify({"cmd": "git status", "yield_ms": 5})


def test_cx_48_other_tools_keep_their_names_and_fields() -> None:
    shown = told(NAME, calling("mcp__x__run", {"cmd": "ls"}, "mcp"))
    assert (shown["tool_name"], shown["tool_input"]) == ("mcp__x__run", {"cmd": "ls"})
