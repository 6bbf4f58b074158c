"""OpenCode: what its hooks and bus events mean, and what our plugin and stream client are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.base import DecodeError, HookAnswer, Intake
from watchgate.agents.opencode import ADAPTER
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import (
    Can,
    Event,
    Lane,
    Question,
    Sub,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny, SayNothing
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.service.policies.policy_files import shipped

SESSION = "ses_parent"
CHILD = "ses_child"


def decoded(payload: dict[str, Any], lane: Lane = Lane.OBSERVE) -> Event:
    raw = json.dumps(payload).encode()
    return ADAPTER.decode(raw, Intake(lane=lane, at=Instant(0, 0.0), deadline_s=60.0))


def bus(name: str, known: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    return {"id": "evt_1", "type": name, "properties": properties, "watchgate": known or {}}


def part(known: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return bus("message.part.updated", known, part={"sessionID": SESSION, **fields})


def tool_part(state: dict[str, Any], known: dict[str, Any] | None = None) -> dict[str, Any]:
    return part(known, type="tool", tool="bash", callID="call_7", state=state)


def before(tool: str = "bash", **args: Any) -> dict[str, Any]:
    sent = {"tool": tool, "sessionID": SESSION, "callID": "call_7"}
    return {"hook": "tool.execute.before", "input": sent, "output": {"args": args}}


PERMISSION = bus(
    "permission.asked",
    id="per_1",
    sessionID=SESSION,
    permission="bash",
    patterns=["git push"],
    metadata={"command": "git push"},
    always=["git *"],
    tool={"messageID": "msg_1", "callID": "call_7"},
)
QUESTION = bus(
    "question.asked",
    id="que_1",
    sessionID=SESSION,
    questions=[
        {
            "question": "Which one?",
            "header": "Pick",
            "options": [{"label": "A", "description": "the first"}, {"label": "B"}],
            "multiple": True,
            "custom": False,
        }
    ],
    tool={"messageID": "msg_1", "callID": "call_8"},
)


def test_a_call_on_the_gate_has_its_tool_by_the_name_that_rules_know() -> None:
    event = decoded(before(command="make", description="build"), Lane.GATE)

    assert (event.kind, event.session, event.native) == ("tool.pre", SESSION, "tool.execute.before")
    assert event.tool is not None
    assert (event.tool.name, event.tool.native_name, event.tool.cls) == ("Bash", "bash", "shell")
    assert event.tool.call_id == "call_7"
    assert event.tool.input == {"command": "make", "description": "build"}
    assert event.can == Can(allow=True, deny=True, modify=True)
    assert event.runs_unasked
    assert event.deadline_s == 60.0


def test_a_permission_is_about_the_same_call_as_the_gate_was() -> None:
    gate = decoded(before(command="git push", description="publish"), Lane.GATE)
    asked = decoded(PERMISSION, Lane.RELAY)

    assert asked.kind == "tool.permission"
    assert asked.races_dialog
    assert asked.can == Can(allow=True, deny=True, stop=True)
    assert gate.tool is not None
    assert asked.tool is not None
    assert asked.tool.input_hash == gate.tool.input_hash
    assert asked.tool.call_id == gate.tool.call_id


def test_a_permission_shows_the_calls_own_input_where_the_forwarder_knows_it() -> None:
    args = {"filePath": "/a/b.txt", "content": "x"}
    known = {"tool": "write", "input": args}
    asked = {**PERMISSION, "watchgate": known}
    asked["properties"] = {**asked["properties"], "permission": "edit", "metadata": {"diff": "+x"}}

    tool = decoded(asked, Lane.RELAY).tool

    assert tool is not None
    assert (tool.name, tool.input) == ("Write", args)


def test_a_command_that_would_leave_the_project_is_shown_as_that_command() -> None:
    asked = json.loads(json.dumps(PERMISSION))
    asked["properties"] |= {"permission": "external_directory", "patterns": ["/etc/*"]}

    tool = decoded(asked, Lane.RELAY).tool

    assert tool is not None
    assert (tool.name, tool.input["command"]) == ("Bash", "git push")


def test_a_permission_for_a_line_of_several_commands_is_about_all_of_them() -> None:
    patterns = ["git status", "rm -rf /"]
    asked = bus("permission.asked", id="p", sessionID=SESSION, permission="bash", patterns=patterns)

    tool = decoded(asked, Lane.RELAY).tool

    assert tool is not None
    assert tool.input == {"command": "git status\nrm -rf /"}
    subject = Subject(tool=tool, cwd="/home/dev/app", home="/home/dev")
    assert assess(subject, shipped(), 0).risk == "critical"


def test_a_permission_without_any_call_shows_its_patterns() -> None:
    asked = bus("permission.asked", id="p", sessionID=SESSION, permission="skill", patterns=["x"])

    tool = decoded(asked, Lane.RELAY).tool

    assert tool is not None
    assert (tool.name, tool.input) == ("skill", {"patterns": ["x"]})


def test_a_question_carries_what_it_asks_and_can_be_answered() -> None:
    event = decoded(QUESTION, Lane.RELAY)

    assert event.kind == "question"
    assert event.can == Can(deny=True, answer=True)
    assert isinstance(event.body, ToolCall)
    assert event.body.tool.cls == "question"
    (question,) = event.body.questions
    assert isinstance(question, Question)
    assert (question.text, question.header) == ("Which one?", "Pick")
    assert [(each.label, each.description) for each in question.choices] == [
        ("A", "the first"),
        ("B", ""),
    ]
    assert (question.multiple, question.free_text) == (True, False)


@pytest.mark.parametrize(
    ("payload", "reply", "told"),
    [
        (before(command="ls"), SayAllow(), {"decision": "allow"}),
        (
            before(command="ls"),
            SayAllow({"command": "ls -l"}),
            {"decision": "allow", "args": {"command": "ls -l"}},
        ),
        (
            before(command="ls"),
            SayAllow({"command": "ls -l"}, "not what was asked"),
            {"decision": "allow", "args": {"command": "ls -l"}, "context": "not what was asked"},
        ),
        (PERMISSION, SayAllow(), {"reply": "once"}),
        (
            PERMISSION,
            SayAllow({"command": "ls -l"}),
            {
                "reply": "reject",
                "message": "The edited call was not run: OpenCode cannot be told another input."
                " Deny it with a reason.",
            },
        ),
        (PERMISSION, SayDeny("too late"), {"reply": "reject", "message": "too late"}),
        (PERMISSION, SayDeny("too late", stop=True), {"reply": "reject"}),
        (QUESTION, SayAnswer((("A", "B"),)), {"answers": [["A", "B"]]}),
        (QUESTION, SayDeny("no"), {"reject": True}),
    ],
)
def test_what_the_forwarders_are_told(
    payload: dict[str, Any], reply: Reply, told: dict[str, Any]
) -> None:
    lane = Lane.GATE if "hook" in payload else Lane.RELAY
    answer = ADAPTER.answer(decoded(payload, lane), reply)

    assert json.loads(answer.stdout) == told
    assert (answer.stderr, answer.exit_code) == (b"", 0)


def test_a_denied_call_is_told_on_every_channel() -> None:
    answer = ADAPTER.answer(decoded(before(command="ls"), Lane.GATE), SayDeny("not today"))

    assert json.loads(answer.stdout) == {"decision": "deny", "reason": "not today"}
    assert (answer.stderr, answer.exit_code) == (b"not today\n", 2)


@pytest.mark.parametrize("payload", [before(command="ls"), PERMISSION, QUESTION])
def test_what_is_handed_back_prints_nothing(payload: dict[str, Any]) -> None:
    lane = Lane.GATE if "hook" in payload else Lane.RELAY

    assert ADAPTER.answer(decoded(payload, lane), SayNothing("context")) == HookAnswer()


def test_nothing_is_told_where_nobody_waits() -> None:
    assert ADAPTER.answer(decoded(PERMISSION), SayAllow()) == HookAnswer()
    idle = bus("session.idle", sessionID=SESSION)
    assert ADAPTER.answer(decoded(idle, Lane.RELAY), SayDeny("no")) == HookAnswer()


def test_a_closed_gate_denies_and_the_other_lanes_hand_back() -> None:
    assert ADAPTER.closed("tool.execute.before", Lane.GATE, "broken").exit_code == 2
    assert ADAPTER.closed("permission.asked", Lane.RELAY, "broken") == HookAnswer()


def test_a_sub_agents_session_is_shown_under_the_one_it_works_for() -> None:
    info = {"id": CHILD, "parentID": SESSION, "agent": "general", "title": "look around"}
    known = {"parent": SESSION, "agent": "general"}

    created = decoded(bus("session.created", sessionID=CHILD, info=info))
    idle = decoded(bus("session.idle", known, sessionID=CHILD))
    prompt = {"hook": "chat.message", "input": {"sessionID": CHILD}, "watchgate": known}

    assert (created.kind, created.session) == ("agent.start", SESSION)
    assert created.sub == Sub(CHILD, "general")
    assert (idle.kind, idle.session, idle.sub_id) == ("agent.stop", SESSION, CHILD)
    # The agent above wrote it, not a person.
    assert decoded(prompt).kind == "message"


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (bus("session.created", info={"id": SESSION, "title": "t"}), "session.start"),
        (bus("session.deleted", info={"id": SESSION}), "session.end"),
        (bus("session.idle", sessionID=SESSION), "turn.end"),
        (bus("session.compacted", sessionID=SESSION), "compact.post"),
        (bus("session.error", sessionID=SESSION, error={"name": "APIError"}), "turn.error"),
        (
            bus("session.error", sessionID=SESSION, error={"name": "MessageAbortedError"}),
            "turn.interrupt",
        ),
        (bus("message.updated", info={"role": "user", "sessionID": SESSION}), "prompt.submit"),
        (part(type="step-start"), "model.request"),
        (part(type="reasoning", text="hm"), "notice"),
        (bus("todo.updated", sessionID=SESSION, todos=[]), "notice"),
        (bus("something.new", sessionID=SESSION), "notice"),
        (bus("permission.replied", sessionID=SESSION, requestID="p", reply="once"), "notice"),
    ],
)
def test_what_else_happens(payload: dict[str, Any], kind: str) -> None:
    event = decoded(payload)

    assert (event.kind, event.session) == (kind, SESSION)
    assert event.kind in ADAPTER.kinds | {"model.request"}


def test_the_servers_own_events_are_shown_without_a_session() -> None:
    event = decoded(bus("file.edited", file="/a"))

    assert (event.kind, event.session) == ("notice", "no session named")
    assert event.body == Text('{"file":"/a"}')


def test_a_prompt_is_the_text_of_its_parts() -> None:
    parts = [{"type": "text", "text": "Fix it"}, {"type": "file"}, {"type": "text", "text": "now"}]
    hook = {"hook": "chat.message", "input": {"sessionID": SESSION}, "output": {"parts": parts}}

    event = decoded(hook)

    assert (event.kind, event.body) == ("prompt.submit", Text("Fix it\nnow"))


def test_a_call_that_ran_has_its_exit_status() -> None:
    state = {
        "status": "completed",
        "input": {"command": "false"},
        "output": "(no output)",
        "metadata": {"exit": 3},
        "time": {"start": 1000, "end": 1250},
    }

    body = decoded(tool_part(state)).body

    assert isinstance(body, ToolResult)
    assert (body.ok, body.exit_code, body.took_ms, body.text) == (False, 3, 250, "(no output)")


def test_a_hooks_result_has_the_arguments_that_ran() -> None:
    sent = {"tool": "bash", "sessionID": SESSION, "callID": "c", "args": {"command": "ls"}}
    hook = {
        "hook": "tool.execute.after",
        "input": sent,
        "output": {"output": "a\n", "metadata": {"exit": 0}},
        "watchgate": {"took_ms": 12},
    }

    event = decoded(hook)

    assert event.kind == "tool.post"
    assert isinstance(event.body, ToolResult)
    assert event.body.tool.input == {"command": "ls"}
    assert (event.body.ok, event.body.exit_code, event.body.took_ms) == (True, 0, 12)


def test_a_call_that_failed_is_told_from_one_that_never_ran() -> None:
    def ended(why: str, known: dict[str, Any] | None = None, **metadata: Any) -> Event:
        state = {"status": "error", "input": {}, "error": why, "metadata": metadata}
        return decoded(tool_part(state, known))

    assert ended("ENOENT").kind == "tool.error"
    assert ended("not today", {"refused": True}).kind == "tool.permission.resolved"
    refusal = "The user rejected permission to use this specific tool call."
    assert ended(refusal).kind == "tool.permission.resolved"
    aborted = ended("Tool execution aborted", interrupted=True).body
    assert isinstance(aborted, ToolResult)
    assert aborted.interrupted


def test_a_refusal_ends_its_call_where_the_forwarder_knows_it() -> None:
    known = {"call_id": "call_7", "tool": "bash", "input": {"command": "ls"}}
    replied = bus("permission.replied", known, sessionID=SESSION, requestID="per_1", reply="reject")

    event = decoded(replied)

    assert event.kind == "tool.permission.resolved"
    assert event.tool is not None
    assert event.tool.call_id == "call_7"


@pytest.mark.parametrize("reply", ["once", "always"])
def test_an_allow_lets_its_call_go_on(reply: str) -> None:
    known = {"call_id": "call_7", "tool": "bash", "input": {"command": "ls"}}
    replied = bus("permission.replied", known, sessionID=SESSION, requestID="per_1", reply=reply)

    event = decoded(replied)

    assert event.kind == "tool.permission.resolved"
    assert isinstance(event.body, ToolCall)
    assert (event.body.allowed, event.body.tool.call_id) == (True, "call_7")


def test_tokens_come_with_messages_and_money_with_sessions() -> None:
    tokens = {"input": 5, "output": 7, "reasoning": 1, "cache": {"read": 11, "write": 13}}
    message = {
        "sessionID": SESSION,
        "role": "assistant",
        "modelID": "m",
        "cost": 0.5,
        "tokens": tokens,
        "time": {"created": 1, "completed": 2},
    }

    assert decoded(bus("message.updated", info=message)).body == Usage(
        input=5, output=8, cache_read=11, cache_write=13, model="m", reasoning=1
    )
    step = {"type": "step-finish", "sessionID": SESSION, "messageID": "msg", "tokens": tokens}
    told = [bus("message.updated", info={**message, "id": "msg"})]
    told.append(bus("message.part.updated", part=step))
    assert [getattr(decoded(each).body, "ref", None) for each in told] == ["msg", "msg"]
    session = {"id": SESSION, "cost": 1.5}
    assert decoded(bus("session.updated", info=session)).body == Usage(total_cost_usd=1.5)


@pytest.mark.parametrize(("total", "output"), [(None, 8), (37, 8), (36, 7)])
def test_reasoning_is_counted_once_whatever_a_version_does(total: int | None, output: int) -> None:
    """A total that is the sum of the others shows that the output has the reasoning in it."""
    cache = {"read": 11, "write": 13}
    tokens = {"input": 5, "output": 7, "reasoning": 1, "cache": cache, "total": total}
    time = {"created": 1, "completed": 2}
    info = {"sessionID": SESSION, "role": "assistant", "tokens": tokens, "time": time}

    body = decoded(bus("message.updated", info=info)).body

    assert isinstance(body, Usage)
    assert (body.output, body.reasoning) == (output, 1)


def test_a_cost_of_nothing_is_a_price_that_opencode_does_not_know() -> None:
    for known in ({}, {"cost_usd": 0.0}):
        told = decoded(bus("session.updated", known, info={"id": SESSION, "cost": 0}))
        assert told.body == Usage()


def test_a_sub_agents_cost_alone_is_not_the_sessions() -> None:
    info = {"id": CHILD, "parentID": SESSION, "cost": 0.25}

    assert decoded(bus("session.updated", info=info)).body == Usage()
    counted = decoded(bus("session.updated", {"parent": SESSION, "cost_usd": 2.0}, info=info))
    assert counted.body == Usage(total_cost_usd=2.0)


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b'{"type": 7}', b"{}", b'{"type":"x","properties":[]}', b'{"hook":"\xff"}'],
)
def test_what_is_no_event_of_opencode_is_refused(payload: bytes) -> None:
    with pytest.raises(DecodeError):
        ADAPTER.decode(payload, Intake(lane=Lane.GATE, at=Instant(0, 0.0)))


def test_profiles_choose_the_lanes() -> None:
    def lanes(profile: str) -> set[tuple[str, str | None]]:
        entries = ADAPTER.entries(profile)
        return {(e.lane, e.matcher) for e in entries if e.event == "tool.execute.before"}

    assert lanes("watch") == {("observe", None)}
    assert lanes("guard") == {("gate", None), ("gate-read", "read|grep|glob|list|lsp")}
    with pytest.raises(ValueError, match="unknown profile"):
        ADAPTER.entries("loose")


@pytest.mark.parametrize(
    ("said", "headless", "why"),
    [
        ("The user rejected permission to use this tool.", True, "it asks nobody when headless"),
        ("The user rejected permission to use this tool.", False, "in its own dialog"),
        ("The user has specified a rule which prevents it", True, "a rule of its own forbids it"),
    ],
)
def test_its_own_refusal_tells_why(said: str, headless: bool, why: str) -> None:
    state = {"status": "error", "input": {}, "error": said, "metadata": {}}
    body = decoded(tool_part(state, {"headless": headless})).body

    assert isinstance(body, ToolCall)
    assert (body.allowed, body.why) == (False, why)
