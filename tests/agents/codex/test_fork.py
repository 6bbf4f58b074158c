"""A codex fork whose hooks run our client: two payload forms, one event, one answer for both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.base import DecodeError, HookAnswer, Intake
from watchgate.agents.codex import CodexAdapter
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.hooks.hook_exchange import HookExit
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import ProtocolName
from watchgate.core.model.events import Event, Lane, Text, ToolResult
from watchgate.core.model.verdicts import Allow, Block, Defer, SayAllow, SayDeny, SayNothing
from watchgate.core.tools.tool_input import command

CODEX = CodexAdapter()
ARGV = '{"command":["git","push","a file"],"workdir":"/srv/app","timeout_ms":10000}'
FORMS: tuple[ProtocolName, ...] = ("codex-fork-v1", "codex-fork-v2")


def decoded(payload: dict[str, Any], lane: Lane = Lane.GATE) -> Event:
    outer = {"session_id": "b5f6", "cwd": "/srv/app", "triggered_at": "2026-02-07T20:04:41Z"}
    raw = json.dumps({**outer, **payload}).encode()
    return CODEX.decode(raw, Intake(lane=lane, at=Instant(1_000, 1.0)))


def v1(event_type: str, **fields: Any) -> Event:
    return decoded({"hook_event": {"event_type": event_type, **fields}})


def v2(name: str, **fields: Any) -> Event:
    return decoded({"hook_event_name": name, "event_type": name, **fields})


def test_both_forms_of_one_call_become_the_same_event() -> None:
    first = v1("pre_tool_use", tool_name="shell", tool_input='{"command":"ls -la"}')
    second = v2("PreToolUse", tool_name="Bash", tool_input={"command": "ls -la"})
    for event in (first, second):
        assert (event.kind, event.native, event.session) == ("tool.pre", "PreToolUse", "b5f6")
        assert event.cwd == "/srv/app"
    assert first.tool is not None
    assert second.tool is not None
    assert (first.tool.name, first.tool.cls) == (second.tool.name, second.tool.cls)
    assert first.tool.input_hash == second.tool.input_hash


def test_the_bounds_of_a_shell_calls_arguments_are_kept() -> None:
    tool = v1("pre_tool_use", tool_name="shell", tool_input=ARGV).tool
    assert tool is not None
    assert tool.input["command"] == ["git", "push", "a file"]
    assert command(tool) == "git push 'a file'"


def test_a_command_under_another_key_is_judged_like_any_command() -> None:
    tool = v1("pre_tool_use", tool_name="exec_command", tool_input='{"cmd":"rm -rf /"}').tool
    assert tool is not None
    assert command(tool) == "rm -rf /"


def test_a_call_that_names_its_command_twice_cannot_be_judged() -> None:
    with pytest.raises(DecodeError, match="both command and cmd"):
        v1("pre_tool_use", tool_name="shell", tool_input='{"command":"ls","cmd":"rm -rf /"}')


@pytest.mark.parametrize("given", ["*** Begin Patch", "[1]", "", "{"])
def test_an_input_that_is_no_object_is_kept_whole(given: str) -> None:
    tool = v1("pre_tool_use", tool_name="apply_patch", tool_input=given).tool
    assert tool is not None
    assert tool.input == {"input": given}


@pytest.mark.parametrize(
    ("event_type", "fields", "kind", "words"),
    [
        ("after_agent", {"turn_id": "1", "last_assistant_message": "done"}, "turn.end", "done"),
        ("stop", {"reason": "max_tokens"}, "turn.end", "max_tokens"),
        ("user_prompt_submit", {"user_message": "hello"}, "prompt.submit", "hello"),
        (
            "notification",
            {"message": "build finished", "level": "info"},
            "notice",
            "info: build finished",
        ),
    ],
)
def test_every_event_of_the_first_version_has_its_words(
    event_type: str, fields: dict[str, Any], kind: str, words: str
) -> None:
    event = v1(event_type, **fields)
    assert (event.kind, event.body) == (kind, Text(words))


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("after_agent", "turn.end"),
        ("pre_tool_use", "tool.pre"),
        ("post_tool_use", "tool.post"),
        ("stop", "turn.end"),
        ("user_prompt_submit", "prompt.submit"),
        ("notification", "notice"),
    ],
)
def test_cx_1_each_event_type_of_the_first_version_is_read(event_type: str, kind: str) -> None:
    assert v1(event_type, tool_name="shell", tool_input="{}").kind == kind


def test_cx_1_an_event_type_that_it_does_not_have_is_shown_as_it_is() -> None:
    event = v1("moonrise", phase="full")
    assert (event.kind, event.native) == ("notice", "moonrise")
    assert event.body == Text('{"phase":"full"}')


def test_a_result_of_the_first_version_is_the_calls_output() -> None:
    event = v1("post_tool_use", tool_name="shell", tool_output="Everything up-to-date\n")
    assert event.kind == "tool.post"
    assert isinstance(event.body, ToolResult)
    assert event.body.text == "Everything up-to-date\n"


def test_cx_b13_a_call_that_failed_is_told_too() -> None:
    failed = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "exit 2"}
    event = v2("PostToolUseFailure", **failed)
    assert event.kind == "tool.error"
    assert isinstance(event.body, ToolResult)
    assert (event.body.ok, event.body.text) == (False, "exit 2")


@pytest.mark.parametrize(
    ("policy", "unasked"),
    [("never", True), ("on-failure", True), ("on-request", False), ("untrusted", False)],
)
def test_sd_23_the_approval_policy_says_whether_anybody_is_asked(
    policy: str, unasked: bool
) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    event = v2("PreToolUse", permission_mode=policy, **call)
    assert (event.mode, event.autonomous, event.runs_unasked) == (policy, unasked, unasked)


def as_the_fork_reads_it(form: ProtocolName, answer: HookAnswer, event: Event) -> Any:
    """What the fork makes of the bytes that our client prints, by its own protocol."""
    ended = HookExit(
        answer.exit_code,
        "",
        answer.stdout,
        answer.stderr,
        len(answer.stdout),
        len(answer.stderr),
    )
    return PROTOCOLS[form].report(ended, event).verdict


@pytest.mark.parametrize("form", FORMS)
def test_a_denial_blocks_whichever_form_reads_it(form: ProtocolName) -> None:
    event = v1("pre_tool_use", tool_name="shell", tool_input='{"command":"git push"}')
    answer = CODEX.answer(event, SayDeny(reason="not on Friday"))
    assert answer.exit_code == 2, "the first version blocks on any code but 0, the second on 2"
    assert as_the_fork_reads_it(form, answer, event) == Block("not on Friday")


@pytest.mark.parametrize("form", FORMS)
def test_a_payload_that_cannot_be_read_blocks_whichever_form_sent_it(form: ProtocolName) -> None:
    event = v1("pre_tool_use", tool_name="shell", tool_input='{"command":"git push"}')
    answer = CODEX.closed("", Lane.GATE, "unreadable")
    assert as_the_fork_reads_it(form, answer, event) == Block("unreadable")


@pytest.mark.parametrize("reply", [SayAllow(), SayNothing()])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_denied_goes_on(form: ProtocolName, reply: Any) -> None:
    event = v1("pre_tool_use", tool_name="shell", tool_input='{"command":"ls"}')
    answer = CODEX.answer(event, reply)
    assert isinstance(as_the_fork_reads_it(form, answer, event), Allow | Defer)
