"""What earlier messages of an ACP connection tell about later ones."""

from __future__ import annotations

from typing import Any

from watchgate.agents.acp.acp_events import PERMISSION
from watchgate.agents.acp.memory import MAX_REMEMBERED, Memory

OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]
SHELL = {"toolCallId": "c", "kind": "execute", "rawInput": {"command": "make"}}


def chosen(option: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option}}


def updated(memory: Memory, **update: Any) -> dict[str, Any]:
    message = {"params": {"sessionId": "s", "update": update}}
    return memory.context(message, "session/update", "agent", b"")


def called(memory: Memory, **said: Any) -> dict[str, Any]:
    return updated(memory, sessionUpdate="tool_call_update", **said)


def asks(memory: Memory) -> dict[str, Any]:
    params = {"sessionId": "s", "toolCall": SHELL, "options": OPTIONS}
    return memory.permission(PERMISSION, params, b"5")


def answered(memory: Memory, result: dict[str, Any], id: bytes = b"1") -> dict[str, Any]:
    return memory.context({"result": result}, "", "agent", id)


def test_what_is_said_of_a_call_adds_up() -> None:
    memory = Memory("/srv")
    called(memory, **SHELL)
    told = called(memory, toolCallId="c", title="make", rawInput=None)
    assert told["call"] == {**SHELL, "title": "make", "sessionUpdate": "tool_call_update"}


def test_an_empty_input_does_not_replace_a_full_one() -> None:
    memory = Memory("/srv")
    called(memory, **SHELL)
    assert called(memory, toolCallId="c", rawInput={})["call"]["rawInput"] == {"command": "make"}


def test_a_call_of_which_nothing_new_is_said_is_known() -> None:
    memory = Memory("/srv")
    assert not called(memory, **SHELL)["known"]
    assert called(memory, toolCallId="c", status="in_progress")["known"]
    assert not called(memory, toolCallId="c", rawInput={"command": "rm"})["known"]


def test_a_call_that_ended_is_forgotten() -> None:
    memory = Memory("/srv")
    called(memory, **SHELL)
    called(memory, toolCallId="c", status="completed")
    assert "rawInput" not in called(memory, toolCallId="c")["call"]


def test_calls_of_two_sessions_with_one_id_are_two() -> None:
    memory = Memory("/srv")
    called(memory, **SHELL)
    other = {"sessionId": "t", "toolCall": {"toolCallId": "c"}, "options": OPTIONS}
    assert memory.permission(PERMISSION, other, b"6") == {"toolCallId": "c"}


def test_a_permission_knows_what_was_said_of_its_call() -> None:
    memory = Memory("/srv")
    called(memory, toolCallId="c", title="Build")
    assert asks(memory)["title"] == "Build"


def test_a_call_whose_permission_was_denied_failed_as_one_that_did_not_run() -> None:
    memory = Memory("/srv")
    asks(memory)
    memory.note_answer(b"5", chosen("n"))
    assert called(memory, toolCallId="c", status="failed")["denied"]


def test_a_call_that_was_allowed_did_run() -> None:
    memory = Memory("/srv")
    asks(memory)
    memory.note_answer(b"5", chosen("y"))
    assert not called(memory, toolCallId="c", status="failed")["denied"]


def test_an_answer_of_the_editor_counts_as_much() -> None:
    memory = Memory("/srv")
    asks(memory)
    memory.context({"result": {"outcome": {"outcome": "cancelled"}}}, "", "editor", b"5")
    assert called(memory, toolCallId="c", status="failed")["denied"]


def test_one_side_never_answers_its_own_request() -> None:
    memory = Memory("/srv")
    asks(memory)
    memory.context({"result": chosen("n")}, "", "agent", b"5")
    assert not called(memory, toolCallId="c", status="failed")["denied"]


def test_an_answer_is_told_with_what_it_answers() -> None:
    memory = Memory("/srv")
    memory.context({"params": {"sessionId": "s"}}, "session/prompt", "editor", b"1")
    assert answered(memory, {}) == {"method": "session/prompt", "session": "s"}
    assert answered(memory, {}) == {"session": ""}


def test_a_session_works_in_the_folder_that_it_was_begun_in() -> None:
    memory = Memory("/srv")
    memory.context({"params": {"cwd": "/home/me"}}, "session/new", "editor", b"1")
    answered(memory, {"sessionId": "s"})
    assert memory.folder("s") == "/home/me"
    assert memory.folder("t") == "/srv"


def test_the_mode_is_the_one_told_last() -> None:
    memory = Memory("/srv")
    answered(memory, {"sessionId": "s", "modes": {"currentModeId": "ask"}})
    assert memory.mode("s") == "ask"
    updated(memory, sessionUpdate="current_mode_update", currentModeId="code")
    assert (memory.mode("s"), memory.mode("t")) == ("code", "")


def test_the_call_heard_of_longest_ago_is_forgotten() -> None:
    memory = Memory("/srv")
    called(memory, **SHELL)
    for number in range(MAX_REMEMBERED):
        called(memory, toolCallId=f"more-{number}")
    assert "rawInput" not in called(memory, toolCallId="c")["call"]
