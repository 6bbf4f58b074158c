"""What Claude Code asks a person, from its hook's bytes to the bytes that it obeys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anyio import to_thread

from tests.e2e.programs import Core, Hook
from watchgate.link.control_client import connect
from watchgate.link.protocol import Refusal

ASKED: dict[str, Any] = {
    "questions": [
        {
            "question": "Which store?",
            "header": "Store",
            "multiSelect": False,
            "options": [{"label": "A file", "description": ""}, {"label": "A server"}],
        }
    ]
}
PLAN = {"plan": "# Split the parser\n\n1. Move it\n"}


def call(event: str, tool: str, args: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A hook's payload about a call of the one session."""
    return {
        "session_id": "e2e",
        "hook_event_name": event,
        "cwd": "/tmp",
        "tool_name": tool,
        "tool_input": args,
        **fields,
    }


def asks(core: Core, tool: str = "AskUserQuestion", args: dict[str, Any] = ASKED) -> Hook:
    """Claude's gate hook hears of the call first, and lets it be; then it asks."""
    before = core.hook("PreToolUse", call("PreToolUse", tool, args, tool_use_id="t1")).done()
    assert (before.code, before.out) == (0, "")
    return core.hook("PermissionRequest", call("PermissionRequest", tool, args), lane="relay")


def decision(out: str) -> Any:
    return json.loads(out)["hookSpecificOutput"]["decision"]


def ran(core: Core, args: dict[str, Any]) -> None:
    """The call's end, as Claude reports it once a question was answered."""
    post = call("PostToolUse", "AskUserQuestion", args, tool_use_id="t1", tool_response={})
    core.hook("PostToolUse", post, lane="observe").done()


def test_an_answered_question_is_told_and_confirmed(running: Core) -> None:
    hook = asks(running)
    (request,) = running.pending()
    assert (request["asks"], request["summary"]) == ("question", "Which store?")
    said = running.cli("answer", request["id"], "--digest", request["digest"], "2")
    assert said.code == 0
    told = decision(hook.done().out)
    assert told["updatedInput"] == {**ASKED, "answers": {"Which store?": "A server"}}
    ran(running, told["updatedInput"])
    assert running.seen("approval.decided")["data"]["answers"] == [["A server"]]
    assert running.seen("effect.confirmed")["request"] == request["id"]


def test_a_declined_question_tells_the_model_why(running: Core) -> None:
    hook = asks(running)
    (request,) = running.pending()
    running.cli("deny", request["id"], "--reason", "decide yourself")
    done = hook.done()
    assert done.code == 0
    assert "decide yourself" in decision(done.out)["message"]


def test_a_question_answered_in_claudes_own_dialog_is_retired(running: Core) -> None:
    """Claude's hook waits on; the call's end comes back with the answers in its input."""
    hook = asks(running)
    (request,) = running.pending()
    ran(running, {**ASKED, "answers": {"Which store?": "A file"}, "annotations": {}})
    done = hook.done()
    assert (done.code, done.out) == (0, "")
    decided = running.seen("approval.decided")
    assert (decided["request"], decided["data"]["word"]) == (request["id"], "answered-elsewhere")
    late = running.cli("answer", request["id"], "--digest", request["digest"], "1")
    assert late.code == 4


def test_a_question_that_nobody_answers_is_handed_back(core: Core) -> None:
    core.configure("[approval]\nrelay_timeout_s = { racing = 1, serial = 1 }\n")
    core.start()
    hook = asks(core)
    done = hook.done()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert core.seen("approval.decided")["data"]["word"] == "handed-back-by-timeout"


@pytest.mark.parametrize("mode", ["auto", "bypassPermissions", "default"])
def test_the_gate_has_no_opinion_on_what_only_asks(running: Core, mode: str) -> None:
    for tool, args in (("AskUserQuestion", ASKED), ("ExitPlanMode", PLAN)):
        payload = call("PreToolUse", tool, args, tool_use_id=tool, permission_mode=mode)
        done = running.hook("PreToolUse", payload).done()
        assert (done.code, done.out) == (0, "")


def test_a_plan_is_approved_with_its_own_input(running: Core) -> None:
    hook = asks(running, "ExitPlanMode", PLAN)
    (request,) = running.pending()
    assert request["asks"] == "plan"
    assert running.allow(request).code == 0
    assert decision(hook.done().out) == {"behavior": "allow", "updatedInput": PLAN}


FORM: dict[str, Any] = {
    "session_id": "e2e",
    "hook_event_name": "Elicitation",
    "cwd": "/tmp",
    "mcp_server_name": "forms",
    "message": "Who are you?",
    "mode": "form",
    "requested_schema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    },
}


def test_without_a_person_at_a_console_a_form_is_handed_back_at_once(running: Core) -> None:
    """Claude shows its own dialog only when the hook is over."""
    done = running.hook("Elicitation", FORM, lane="relay").done()
    assert (done.code, done.out) == (0, "")


async def test_a_form_is_filled_in_with_typed_values(running: Core) -> None:
    async with connect(running.runtime / "control.sock") as console:
        await console.attach()
        await console.call("hello")
        hook = running.hook("Elicitation", FORM, lane="relay")
        (request,) = await to_thread.run_sync(running.pending)
        facts = {"request": request["id"], "digest": request["digest"], "confirmed": True}
        wrong = await console.call(
            "decide", decision="answer", answers=(("ann",), ("old",)), **facts
        )
        assert isinstance(wrong, Refusal)
        assert (wrong.refused, "a whole number" in wrong.message) == ("bad_request", True)
        await console.call("decide", decision="answer", answers=(("ann",), ("41",)), **facts)
        done = await to_thread.run_sync(hook.done)
    assert json.loads(done.out)["hookSpecificOutput"] == {
        "hookEventName": "Elicitation",
        "action": "accept",
        "content": {"name": "ann", "age": 41},
    }
