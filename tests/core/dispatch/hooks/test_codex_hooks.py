"""Upstream codex's hook protocol."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

from tests.core.builders import other, permission, post, pre, shell, sub
from tests.core.dispatch.hooks.runs import calling, ended, report, told, verdict
from watchgate.core.dispatch.hooks.codex_hooks import NO_DENIAL_REASON, NO_QUESTION, NO_STOP_REASON
from watchgate.core.dispatch.hooks.hook_exchange import HookExit
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.hooks.rewrites import ARGV
from watchgate.core.dispatch.presets import CODEX_PERMISSION
from watchgate.core.model.events import Event, SessionChange
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Verdict,
)

NAME: Final = "codex"
Answer = dict[str, object]


def about_permission(**decision: object) -> Answer:
    """An answer to PermissionRequest."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def about_tool(**fields: object) -> Answer:
    """An answer to PreToolUse."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


def cause(said: Verdict) -> str:
    """Why a run failed, and what the preset makes of that."""
    assert isinstance(said, Failed)
    assert isinstance(CODEX_PERMISSION.failure, dict)
    return f"{said.cause} {CODEX_PERMISSION.failure[said.cause]}"


def test_a_call_is_told_with_its_mode_and_id() -> None:
    event = pre(shell("ls", "c7"), mode="plan", turn="t3", sub=sub("s9"))
    assert told(NAME, event) == {
        "session_id": "one",
        "turn_id": "t3",
        "agent_id": "s9",
        "agent_type": "helper",
        "transcript_path": None,
        "cwd": "/home/u/app",
        "hook_event_name": "PreToolUse",
        "model": "",
        "permission_mode": "plan",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "c7",
    }


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (
            permission(shell("git push", description="publish")),
            {
                "hook_event_name": "PermissionRequest",
                "tool_input": {"command": "git push", "description": "publish"},
            },
        ),
        (post(), {"hook_event_name": "PostToolUse", "tool_response": ""}),
        (other("prompt.submit"), {"hook_event_name": "UserPromptSubmit", "prompt": "words"}),
        (other("turn.end"), {"hook_event_name": "Stop", "last_assistant_message": "words"}),
        (other("compact.pre"), {"hook_event_name": "PreCompact", "trigger": "words"}),
        (
            other("notice", mode="on-request"),
            {
                "hook_event_name": "notice",
                "permission_mode": "default",
            },
        ),
        (
            msgspec.structs.replace(other("session.start"), body=SessionChange("resume")),
            {"hook_event_name": "SessionStart", "source": "resume"},
        ),
    ],
)
def test_each_event_carries_its_own_fields(event: Event, fields: Answer) -> None:
    assert told(NAME, event).items() >= fields.items()


@pytest.mark.parametrize("event", [pre(), permission(), other("prompt.submit")])
def test_cx_64_exit_2_with_words_denies_with_them(event: Event) -> None:
    assert verdict(NAME, ended(exit_code=2, stderr="not on Friday\n"), event) == Block(
        "not on Friday"
    )


@pytest.mark.parametrize("event", [pre(), permission(), other("prompt.submit")])
@pytest.mark.parametrize("stderr", ["", " \n"])
def test_cx_65_exit_2_without_words_is_a_failure_and_no_verdict(event: Event, stderr: str) -> None:
    assert cause(verdict(NAME, ended(exit_code=2, stderr=stderr), event)) == "exit open"


@pytest.mark.parametrize(
    "run",
    [
        ended(exit_code=1, stderr="boom"),
        ended(about_tool(permissionDecision="deny", permissionDecisionReason="no"), exit_code=127),
        ended(exit_code=None, signal="SIGSEGV"),
        ended("{"),
        ended('{"decision": "deny"}'),
    ],
)
@pytest.mark.parametrize("event", [pre(), permission()])
def test_cx_66_a_failed_run_gives_no_verdict(run: HookExit, event: Event) -> None:
    assert cause(verdict(NAME, run, event)).endswith(" open")


@pytest.mark.parametrize("stdout", ["", "  \n", "all good", "deny", '"deny"', "3"])
@pytest.mark.parametrize("event", [pre(), permission()])
def test_cx_67_what_does_not_look_like_json_is_ignored(stdout: str, event: Event) -> None:
    assert verdict(NAME, ended(stdout), event) == Defer()


@pytest.mark.parametrize("stdout", ["{", " {deny}", "[]", "[1]", "{" * 50_000])
@pytest.mark.parametrize("event", [pre(), permission()])
def test_cx_67_what_looks_like_json_and_is_none_is_a_failure(stdout: str, event: Event) -> None:
    assert cause(verdict(NAME, ended(stdout), event)) == "parse open"


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        (about_permission(behavior="allow"), Allow()),
        (about_permission(behavior="deny", message="not on Friday"), Block("not on Friday")),
        (about_permission(behavior="deny"), Block(NO_DENIAL_REASON)),
        (about_permission(behavior="allow", updatedInput=None, interrupt=False), Allow()),
        ({"systemMessage": "for the user"}, Defer("for the user")),
        ({}, Defer()),
    ],
)
def test_cx_68_a_permission_hook_allows_denies_or_says_nothing(
    answer: Answer, means: Verdict
) -> None:
    assert verdict(NAME, ended(answer), permission()) == means


@pytest.mark.parametrize(
    "reserved", [{"updatedInput": {}}, {"updatedPermissions": []}, {"interrupt": True}]
)
@pytest.mark.parametrize("behavior", ["allow", "deny"])
def test_cx_68_a_reserved_field_fails_closed(reserved: Answer, behavior: str) -> None:
    answer = about_permission(behavior=behavior, **reserved)
    assert cause(verdict(NAME, ended(answer), permission())) == "malformed closed"


@pytest.mark.parametrize(
    "also", [{"continue": False}, {"stopReason": "x"}, {"suppressOutput": True}]
)
def test_cx_68_an_allow_with_an_unsupported_word_fails_closed(also: Answer) -> None:
    answer = {**about_permission(behavior="allow"), **also}
    assert cause(verdict(NAME, ended(answer), permission())) == "malformed closed"


@pytest.mark.parametrize(
    ("named_s", "limit_s"), [(None, 600.0), (30.0, 30.0), (0.2, 1.0), (1.0, 1.0)]
)
def test_cx_70_the_limit_is_600_s_and_never_under_one(
    named_s: float | None, limit_s: float
) -> None:
    assert PROTOCOLS["codex"].limit_s(named_s) == limit_s


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "block", "reason": "x", "message": "unknown"},
        about_tool(permissionDecision="deny", permissionDecisionReason="x", interrupt=True),
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "x"}},
        {"hookSpecificOutput": {"hookEventName": "Other", "permissionDecision": "deny"}},
        about_tool(permissionDecision="maybe"),
        {"continue": "no"},
    ],
)
def test_cx_71_unknown_fields_and_a_missing_event_name_are_refused(answer: Answer) -> None:
    assert cause(verdict(NAME, ended(answer))) == "parse open"


def test_cx_71_a_permission_answer_needs_its_event_name_too() -> None:
    answer = {"hookSpecificOutput": {"decision": {"behavior": "allow"}}}
    assert cause(verdict(NAME, ended(answer), permission())) == "parse open"
    stray = about_permission(behavior="allow", reason="x")
    assert cause(verdict(NAME, ended(stray), permission())) == "parse open"


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        (
            about_tool(permissionDecision="deny", permissionDecisionReason="no"),
            Block("no"),
        ),
        ({"decision": "block", "reason": "no"}, Block("no")),
        (
            about_tool(permissionDecision="allow", updatedInput={"command": "git status"}),
            Modify({"command": "git status"}),
        ),
        (about_tool(permissionDecision="ask", permissionDecisionReason="sure?"), Confirm("sure?")),
        (about_tool(permissionDecision="ask"), Confirm(NO_QUESTION)),
        (about_tool(additionalContext="note"), Defer()),
    ],
)
def test_a_hook_before_a_call_denies_rewrites_or_asks(answer: Answer, means: Verdict) -> None:
    assert verdict(NAME, ended(answer)) == means


@pytest.mark.parametrize(
    "answer",
    [
        about_tool(permissionDecision="allow"),
        {"decision": "approve"},
        about_tool(permissionDecision="deny"),
        about_tool(permissionDecision="deny", permissionDecisionReason=" "),
        about_tool(updatedInput={"command": "ls"}),
        about_tool(permissionDecisionReason="alone"),
        {"reason": "alone"},
        {"continue": False},
        {"suppressOutput": True},
    ],
)
def test_what_codex_does_not_support_before_a_call_gives_no_verdict(answer: Answer) -> None:
    assert cause(verdict(NAME, ended(answer))) == "protocol open"


def test_a_rewrite_that_cannot_replace_the_call_never_lets_the_original_run() -> None:
    new = about_tool(permissionDecision="allow", updatedInput="ls")
    assert cause(verdict(NAME, ended(new))) == "malformed closed"
    argv = calling("shell", {"command": ["git", "push"]}, "shell")
    new = about_tool(permissionDecision="allow", updatedInput={"command": "ls"})
    assert verdict(NAME, ended(new), argv) == Block(ARGV)


def test_context_is_for_the_model() -> None:
    answer = about_tool(
        permissionDecision="allow", updatedInput={"command": "ls"}, additionalContext="dry run"
    )
    assert report(NAME, ended(answer)).text == "dry run"


@pytest.mark.parametrize("event", [post(), other("turn.end")])
def test_words_about_what_is_over_go_to_the_model_and_deny_nothing(event: Event) -> None:
    assert verdict(NAME, ended(exit_code=2, stderr="try again"), event) == Inject("try again")
    answer = {"decision": "block", "reason": "try again"}
    assert verdict(NAME, ended(answer), event) == Inject("try again")


def test_a_prompt_can_be_blocked_and_a_turn_ended() -> None:
    event = other("prompt.submit")
    assert verdict(NAME, ended({"decision": "block", "reason": "no"}), event) == Block("no")
    assert verdict(NAME, ended({"decision": "block"}), event) == Failed(
        "protocol", "a block needs a reason that is not empty"
    )
    assert verdict(NAME, ended({"continue": False}), event) == Abort(NO_STOP_REASON)
    context = {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "note"}
    }
    assert verdict(NAME, ended(context), event) == Inject("note")
