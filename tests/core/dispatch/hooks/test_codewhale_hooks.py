"""CodeWhale's lifecycle hooks."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from tests.core.builders import other, permission, post, pre, shell
from tests.core.dispatch.hooks.runs import calling, ended, env, report, told, verdict
from watchgate.core.dispatch.hooks.codewhale_hooks import (
    MAX_TEXT_CHARS,
    NO_QUESTION,
    NO_REASON,
    NOT_REWRITTEN,
    STDIN_CAP_BYTES,
)
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.model.events import Event, Lane, Text
from watchgate.core.model.verdicts import Allow, Block, Confirm, Defer, Failed, Modify, Verdict

NAME: Final = "codewhale"
PROMPT = other("prompt.submit")
LONG = "x" * 10_001


def prompt(text: str) -> Event:
    """A message with this text, about to be sent."""
    return msgspec.structs.replace(PROMPT, body=Text(text))


@pytest.mark.parametrize("event", [pre(), permission()])
@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ({"decision": "allow"}, Allow()),
        ({"decision": "deny", "reason": "production"}, Block("production")),
        ({"decision": "deny"}, Block(NO_REASON)),
        ({"decision": "ask", "reason": "sure?"}, Confirm("sure?")),
        ({"decision": "ask"}, Confirm(NO_QUESTION)),
        ({"decision": "allow", "updatedInput": {"command": "ls"}}, Modify({"command": "ls"})),
        ({"updatedInput": {"command": "ls"}}, Modify({"command": "ls"})),
        ({"decision": "deny", "reason": "no", "updatedInput": {"command": "ls"}}, Block("no")),
        (
            {"decision": "ask", "reason": "sure?", "updatedInput": {}},
            Confirm(f"sure?{NOT_REWRITTEN}"),
        ),
        ({"decision": "deny", "reason": "no", "updatedInput": None}, Block("no")),
        ({}, Defer()),
    ],
)
def test_cw_23_each_answer_is_one_verdict(
    event: Event, answer: dict[str, Any], means: Verdict
) -> None:
    assert verdict(NAME, ended(answer), event) == means


@pytest.mark.parametrize(
    ("stdout", "reason"),
    [
        ('{"decision":"allow"}', "on stderr"),
        ('{"decision":"allow","reason":"on stdout"}', "on stdout"),
        ("allow", "on stderr"),
        ("[" * 100_000, "on stderr"),
        ("", "on stderr"),
    ],
)
def test_cw_23_exit_2_denies_whatever_stdout_says(stdout: str, reason: str) -> None:
    assert verdict(NAME, ended(stdout, 2, "on stderr")) == Block(reason)


def test_cw_23_exit_2_without_any_words_denies() -> None:
    assert verdict(NAME, ended(exit_code=2)) == Block(NO_REASON)


def test_cw_23_a_context_is_for_the_model_and_cannot_paint() -> None:
    said = report(NAME, ended({"decision": "allow", "additionalContext": "\x1b[2Ja\r\nb"}))
    assert said.text == "[2Ja\nb"
    long = report(NAME, ended({"decision": "allow", "additionalContext": "x" * 9_000}))
    assert len(long.text) < 2_100


@pytest.mark.parametrize("stdout", ["", "\n", "fine", "[1]", "{"])
def test_cw_23_exit_0_without_a_decision_is_no_opinion(stdout: str) -> None:
    assert isinstance(verdict(NAME, ended(stdout)), Defer)


@pytest.mark.parametrize("new", [[], "ls", 5, {"command": "x" * 40_000}])
def test_a_rewrite_that_does_not_fit_never_lets_the_original_run_unsaid(new: object) -> None:
    said = verdict(NAME, ended({"decision": "allow", "updatedInput": new}))
    assert isinstance(said, Failed)
    assert said.cause == "malformed"


def test_an_unknown_decision_is_a_failure() -> None:
    said = verdict(NAME, ended({"decision": "block"}))
    assert said == Failed("protocol", "decision must be allow, deny or ask")


@pytest.mark.parametrize("exit_code", [1, 3, 127])
@pytest.mark.parametrize("stdout", ["", "broken", "{}", '{"decision":"maybe"}', "{"])
def test_cw_24_a_failing_exit_without_a_decision_gives_no_verdict(
    exit_code: int, stdout: str
) -> None:
    said = verdict(NAME, ended(stdout, exit_code, "boom"))
    assert said == Failed("exit", f"exited with {exit_code}: boom")


@pytest.mark.parametrize(
    ("decision", "means"), [("deny", Block("x")), ("ask", Confirm("x")), ("allow", Allow("x"))]
)
def test_cw_24_a_decision_is_heard_at_a_failing_exit(decision: str, means: Verdict) -> None:
    run = ended({"decision": decision, "reason": "x"}, exit_code=1)
    assert verdict(NAME, run) == means


def test_cw_24_a_death_by_signal_gives_no_verdict() -> None:
    run = ended({"decision": "allow"}, None, signal="SIGKILL")
    assert verdict(NAME, run) == Failed("crash", "killed by SIGKILL")


def test_cw_25_a_message_is_replaced() -> None:
    assert verdict(NAME, ended({"text": "in English"}), PROMPT) == Modify({"text": "in English"})


def test_cw_25_the_next_hook_is_told_the_text_as_it_is_by_then() -> None:
    first = verdict(NAME, ended({"text": "in English"}), PROMPT)
    assert isinstance(first, Modify)
    assert first.input is not None
    assert told(NAME, prompt(first.input["text"]))["text"] == "in English"


@pytest.mark.parametrize("text", ["", "x" * (MAX_TEXT_CHARS + 1), 5, None, ["a"]])
def test_cw_25_an_invalid_replacement_is_ignored(text: object) -> None:
    said = verdict(NAME, ended({"text": text}), PROMPT)
    assert isinstance(said, Defer)
    assert said.reason.startswith("ignored: ")


def test_cw_25_exit_2_blocks_the_message() -> None:
    assert verdict(NAME, ended({"reason": "a secret"}, 2), PROMPT) == Block("a secret")
    assert verdict(NAME, ended('{"text":"other"}', 2), PROMPT) == Block(NO_REASON)


@pytest.mark.parametrize("answer", [{}, {"other": 1}, {"decision": "deny"}])
def test_cw_25_an_answer_without_text_leaves_the_message_alone(answer: dict[str, Any]) -> None:
    assert verdict(NAME, ended(answer), PROMPT) == Defer()


@pytest.mark.parametrize("exit_code", [0, 2])
@pytest.mark.parametrize("event", [post(), other("turn.end"), other("session.start")])
def test_an_observer_steers_nothing(event: Event, exit_code: int) -> None:
    said = verdict(NAME, ended({"decision": "deny"}, exit_code), event)
    assert said == (Defer() if exit_code == 0 else Failed("exit", "exited with 2"))


def test_a_call_is_told_in_variables_and_whole_on_stdin() -> None:
    event = pre(shell("git push", "c7"), mode="Agent")
    assert env(NAME, event) == {
        "DEEPSEEK_SESSION_ID": "one",
        "DEEPSEEK_WORKSPACE": "/home/u/app",
        "DEEPSEEK_MODE": "Agent",
        "DEEPSEEK_TOOL_NAME": "Bash",
        "DEEPSEEK_TOOL_CALL_ID": "c7",
        "DEEPSEEK_TOOL_ARGS": '{"command":"git push"}',
    }
    assert (
        told(NAME, event).items()
        >= {
            "event": "tool_call_before",
            "tool_name": "Bash",
            "tool_call_id": "c7",
            "tool_args": {"command": "git push"},
        }.items()
    )


def test_a_long_input_says_that_its_variable_is_cut_and_is_whole_on_stdin() -> None:
    event = calling("Bash", {"command": f"echo {LONG}; rm -rf /"}, "shell")
    given = env(NAME, event)
    assert given["DEEPSEEK_TOOL_ARGS"].endswith("...[truncated]")
    assert len(given["DEEPSEEK_TOOL_ARGS"]) == 10_000
    assert given["DEEPSEEK_TOOL_ARGS_TRUNCATED"] == "true"
    assert told(NAME, event)["tool_args"]["command"].endswith("rm -rf /")


def test_a_result_is_told_in_variables() -> None:
    event = post(ok=False)
    assert env(NAME, event)["DEEPSEEK_TOOL_SUCCESS"] == "false"
    assert told(NAME, event)["event"] == "tool_call_after"


def test_sub_agents_and_errors_are_told_in_previews() -> None:
    assert told(NAME, other("agent.start"))["prompt_preview"] == "words"
    assert told(NAME, other("agent.stop"))["result_truncated"] is False
    assert env(NAME, other("turn.error"))["DEEPSEEK_ERROR"] == "words"


@pytest.mark.parametrize(
    "text", ["short", "x" * 40_000, "é" * 40_000, '"\n' * 40_000, "\0" * 9_000]
)
def test_a_message_is_told_as_far_as_32_kib_of_json_hold(text: str) -> None:
    stdin = PROTOCOLS["codewhale"].exchange(prompt(text), "guard").stdin
    assert stdin is not None
    assert len(stdin) <= STDIN_CAP_BYTES
    document = msgspec.json.decode(stdin)
    assert text.startswith(document["text"])
    assert document["text_bytes"] == len(document["text"].encode())
    assert document["text_original_bytes"] == len(text.encode())
    assert document["text_truncated"] is (document["text"] != text)
    # Not one character more would have fitted.
    assert document["text"] == text or len(stdin) > STDIN_CAP_BYTES - 16


def test_a_gate_is_told_a_whole_prompt_or_none_and_an_observer_its_beginning() -> None:
    gate = msgspec.structs.replace(prompt("x" * 40_000), lane=Lane.GATE)
    with pytest.raises(ValueError, match="40000 bytes"):
        PROTOCOLS["codewhale"].exchange(gate, "guard")
    observed = told(NAME, msgspec.structs.replace(gate, lane=Lane.OBSERVE))
    assert observed["text_truncated"] is True
    assert observed["text_original_bytes"] == 40_000
