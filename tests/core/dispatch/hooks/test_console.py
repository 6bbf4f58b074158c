"""Our own hook protocol."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import SAYS_ALL, batch, other, post, pre, shell, sub
from tests.core.dispatch.hooks.runs import ended, report, told, verdict
from watchgate.core.dispatch.hooks.hook_protocols import NO_QUESTION, NO_REASON
from watchgate.core.model.events import SessionChange
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


def test_cx_b1_a_hook_is_told_the_whole_request() -> None:
    tool = shell("git push", "c7", sandbox_permissions="escalated", justification="asked for")
    event = pre(tool, mode="plan", turn="t3", sub=sub("s9"), autonomous=True, can=SAYS_ALL)

    assert told("console", event) == {
        "watchgate": 1,
        "handler": "guard",
        "kind": "tool.pre",
        "native": "PreToolUse",
        "agent": "claude",
        "session": "one",
        "turn": "t3",
        "at": "2025-06-15T15:06:40Z",
        "cwd": "/home/u/app",
        "mode": "plan",
        "autonomous": True,
        "lane": "gate",
        "sub": {"id": "s9", "type": "helper"},
        "tool": {
            "name": "Bash",
            "native_name": "Bash",
            "class": "shell",
            "input": {
                "command": "git push",
                "sandbox_permissions": "escalated",
                "justification": "asked for",
            },
            "call_id": "c7",
        },
        "text": "",
    }


def test_a_hook_is_told_how_a_call_ended() -> None:
    assert (
        told("console", post(ok=False, interrupted=True)).items()
        >= {
            "kind": "tool.error",
            "ok": False,
            "interrupted": True,
            "took_ms": None,
        }.items()
    )


def test_a_hook_is_told_the_words_and_changes_of_a_session() -> None:
    assert told("console", other("prompt.submit"))["text"] == "words"
    change = SessionChange("startup", model="m1", transcript="/t.jsonl")
    event = msgspec.structs.replace(other("session.start"), body=change)
    assert (
        told("console", event).items()
        >= {
            "text": "startup",
            "model": "m1",
            "transcript": "/t.jsonl",
        }.items()
    )


def test_a_hook_is_told_all_calls_of_a_batch() -> None:
    body = told("console", batch(shell("a"), shell("b")))["body"]
    assert [tool["input"] for tool in body["tools"]] == [{"command": "a"}, {"command": "b"}]


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ({"decision": "allow", "reason": "known"}, Allow("known")),
        ({"decision": "block", "reason": "no"}, Block("no")),
        ({"decision": "deny", "reason": "no"}, Block("no")),
        ({"decision": "ask", "reason": "sure?"}, Confirm("sure?")),
        ({"decision": "ask"}, Confirm(NO_QUESTION)),
        ({"decision": "modify", "input": {"command": "ls"}}, Modify({"command": "ls"})),
        ({"decision": "inject", "text": "it is Friday"}, Inject("it is Friday")),
        ({"decision": "abort", "reason": "stop"}, Abort("stop")),
        ({"decision": "defer"}, Defer()),
    ],
)
def test_each_decision_is_one_verdict(answer: dict[str, object], means: Verdict) -> None:
    assert verdict("console", ended(answer)) == means


@pytest.mark.parametrize("stdout", ["", " \n"])
def test_silence_is_no_opinion(stdout: str) -> None:
    assert verdict("console", ended(stdout)) == Defer()


def test_cx_b3_a_missing_rewrite_is_not_an_empty_one() -> None:
    assert verdict("console", ended({"decision": "modify"})) == Modify(None)
    assert verdict("console", ended({"decision": "modify", "input": None})) == Modify(None)
    assert verdict("console", ended({"decision": "modify", "input": {}})) == Modify({})


def test_cx_b7_exit_2_blocks_without_words_too() -> None:
    assert verdict("console", ended(exit_code=2)) == Block(NO_REASON)
    assert verdict("console", ended(exit_code=2, stderr=" not today\n")) == Block("not today")


def test_exit_2_blocks_whatever_stdout_says() -> None:
    run = ended({"decision": "allow"}, exit_code=2)
    assert verdict("console", run) == Block(NO_REASON)


@pytest.mark.parametrize("exit_code", [1, 3, 126, 127, 255])
def test_any_other_exit_is_a_failure_whatever_stdout_says(exit_code: int) -> None:
    run = ended({"decision": "allow"}, exit_code, "broke")
    assert verdict("console", run) == Failed("exit", f"exited with {exit_code}: broke")


@pytest.mark.parametrize("stdout", ["ok", "{", "[]", '"allow"', b"\xff", "[" * 100_000])
def test_what_is_no_json_object_is_a_failure(stdout: str | bytes) -> None:
    said = verdict("console", ended(stdout))
    assert isinstance(said, Failed)
    assert said.cause == "parse"


@pytest.mark.parametrize(
    ("answer", "mend"),
    [
        ({}, "decision must be one of block, deny, abort, allow, ask, defer, modify, inject"),
        ({"decision": "yes"}, "decision must be one of"),
        ({"decision": ["allow"]}, "decision must be one of"),
        ({"decision": "allow", "reson": "x"}, "unknown key reson; allowed are decision, reason"),
        ({"decision": "allow", "reason": 1}, "reason and text must be texts"),
        ({"decision": "modify", "input": []}, "input must be an object"),
        ({"decision": "allow", "input": {}}, "input belongs to the decision modify only"),
        ({"decision": "inject"}, "inject needs a text"),
    ],
)
def test_an_answer_that_is_not_ours_is_a_failure_that_says_the_mend(
    answer: dict[str, object], mend: str
) -> None:
    said = verdict("console", ended(answer))
    assert isinstance(said, Failed)
    assert said.cause == "protocol"
    assert mend in said.detail


@pytest.mark.parametrize("also", [{"reason": 5}, {"input": {}}, {"unheard": "of"}, {"text": []}])
def test_a_readable_block_counts_however_the_rest_is_written(also: dict[str, object]) -> None:
    assert verdict("console", ended({"decision": "block", **also})) == Block(NO_REASON)


def test_a_text_beside_the_decision_is_for_the_model() -> None:
    said = report("console", ended({"decision": "allow", "text": "note"}))
    assert (said.verdict, said.text) == (Allow(), "note")
