"""What ACP messages mean, and which option stands for which decision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.acp import ADAPTER, AcpEvent
from watchgate.agents.acp.acp_events import usage_of
from watchgate.agents.base import DecodeError, Intake
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane, ToolCall, ToolResult, Unknown, Usage
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny, SayNothing

ONCE = {"optionId": "1", "name": "Allow", "kind": "allow_once"}
MODE = {"optionId": "2", "name": "Allow once and switch to default mode", "kind": "allow_once"}
ALWAYS = {"optionId": "3", "name": "Always", "kind": "allow_always"}
NO = {"optionId": "4", "name": "No", "kind": "reject_once"}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def decoded(message: dict[str, Any], lane: Lane = Lane.RELAY, native: str = "") -> Event:
    intake = Intake(lane=lane, at=Instant(0, 0.0), native=native, deadline_s=60)
    return ADAPTER.decode(json.dumps(message).encode(), intake)


def permission(options: list[dict[str, str]], **call: Any) -> Event:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **call}, "options": options}
    return decoded({"id": 1, "method": "session/request_permission", "params": params})


def update(sort: str, **fields: Any) -> Event:
    params = {"sessionId": "s", "update": {"sessionUpdate": sort, **fields}}
    return decoded({"method": "session/update", "params": params})


def told(event: Event, reply: Reply) -> Any:
    said = ADAPTER.answer(event, reply).stdout
    return json.loads(said)["result"] if said else None


def selected(id: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": id}}


@pytest.mark.parametrize(
    ("options", "allow", "deny"),
    [
        ([ALWAYS, MODE, ONCE, NO], "1", "4"),
        ([NO, ONCE], "1", "4"),
        ([ALWAYS, NO], None, "4"),
        ([MODE, NO], None, "4"),
        ([ONCE], "1", None),
        ([], None, None),
    ],
)
def test_the_kind_decides_and_nothing_but_this_call_is_allowed(
    options: list[dict[str, str]], allow: str | None, deny: str | None
) -> None:
    event = permission(options, kind="execute", rawInput={"command": "ls"})
    assert event.can.allow is (allow is not None)
    assert told(event, SayAllow()) == (selected(allow) if allow else None)
    assert told(event, SayDeny("no")) == (selected(deny) if deny else CANCELLED)
    assert told(event, SayNothing()) is None


def test_an_edited_call_is_denied_as_it_cannot_be_told() -> None:
    event = permission([ONCE, NO], kind="execute", rawInput={"command": "ls"})
    assert not event.can.modify
    assert told(event, SayAllow(input={"command": "true"})) == selected("4")


@pytest.mark.parametrize(
    ("call", "name", "cls", "args"),
    [
        ({"kind": "execute", "title": "ls -l"}, "Bash", "shell", {"command": "ls -l"}),
        (
            {"kind": "execute", "rawInput": {"command": "ls", "commands": ["ls"]}},
            *("Bash", "shell", {"command": "ls"}),
        ),
        (
            {"kind": "execute", "rawInput": {"command": "ls", "commands": ["ls", "rm x"]}},
            *("Bash", "shell", {"command": "ls", "commands": ["ls", "rm x"]}),
        ),
        (
            {"kind": "edit", "content": [{"type": "diff", "path": "/a", "newText": "b"}]},
            *("Edit", "edit", {"file_path": "/a", "old_string": "", "new_string": "b"}),
        ),
        (
            {"kind": "read", "title": "a", "locations": [{"path": "/a"}]},
            *("Read", "read", {"title": "a", "file_path": "/a"}),
        ),
        ({"kind": "fetch", "title": "http://x"}, "WebFetch", "fetch", {"url": "http://x"}),
        ({"title": "t", "rawInput": {"a": 1}}, "other", "other", {"a": 1}),
    ],
)
def test_a_call_is_told_by_its_input_or_by_what_a_person_is_shown(
    call: dict[str, Any], name: str, cls: str, args: dict[str, Any]
) -> None:
    tool = permission([ONCE], **call).tool
    assert tool is not None
    assert (tool.name, tool.cls, tool.input) == (name, cls, args)


def test_a_plan_is_a_question() -> None:
    event = permission([ONCE, NO], kind="switch_mode", rawInput={"plan": "1. all"})
    assert (event.kind, event.tool and event.tool.cls) == ("question", "plan")
    assert told(event, SayAllow()) == selected("1")


def test_a_form_is_a_question_with_its_answer() -> None:
    schema = {"type": "object", "properties": {"how": {"type": "string", "enum": ["a", "b"]}}}
    params = {"sessionId": "s", "mode": "form", "message": "How?", "requestedSchema": schema}
    event = decoded({"id": 1, "method": "elicitation/create", "params": params})
    assert event.kind == "question"
    assert event.can.answer
    answered = {"action": "accept", "content": {"how": "b"}}
    assert told(event, SayAnswer((("b",),))) == answered
    assert told(event, SayDeny("no")) == {"action": "decline"}
    assert told(event, SayNothing()) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [("pending", "tool.pre"), ("completed", "tool.post"), ("failed", "tool.error")],
)
def test_an_update_of_a_call_is_told_by_its_status(status: str, kind: str) -> None:
    event = update("tool_call_update", toolCallId="c", status=status, rawOutput={"exitCode": 3})
    assert event.kind == kind
    if isinstance(event.body, ToolResult):
        assert event.body.exit_code == 3


def test_money_is_told_in_dollars_alone() -> None:
    dollars = update("usage_update", cost={"amount": 0.5, "currency": "USD"})
    assert dollars.body == Usage(total_cost_usd=0.5)
    filled = update("usage_update", used=53_000, size=200_000)
    assert filled.body == Usage(context_used=53_000, context_size=200_000)
    assert update("usage_update", cost={"amount": 5, "currency": "EUR"}).body == Usage()


@pytest.mark.parametrize(
    ("told", "used"),
    [
        ((1_200, 40, 0, None, 1_240), Usage(input=1_200, output=40, cache_read=0)),
        (
            (1_200, 40, 900, None, 1_240),
            Usage(input=1_200, output=40, cache_read=900, cached_within=True),
        ),
        ((300, 40, 900, None, 1_240), Usage(input=300, output=40, cache_read=900)),
        ((300, 40, 900, 8, 1_248), Usage(input=300, output=48, cache_read=900, reasoning=8)),
        ((300, 40, 900, 8, 1_240), Usage(input=300, output=40, cache_read=900, reasoning=8)),
        (
            (1_200, 40, 900, 8, 1_248),
            Usage(input=1_200, output=48, cache_read=900, reasoning=8, cached_within=True),
        ),
        ((300, 40, 900, 8, None), Usage(input=300, output=48, cache_read=900, reasoning=8)),
    ],
)
def test_what_a_total_is_of_shows_which_counts_overlap(told: Any, used: Usage) -> None:
    names = ("inputTokens", "outputTokens", "cachedReadTokens", "thoughtTokens", "totalTokens")

    assert usage_of({"usage": dict(zip(names, told, strict=True))}) == used


def test_the_model_is_told_where_it_is_the_only_one() -> None:
    """Gemini CLI tells its tokens beside the protocol's own field, by model as well."""
    tokens = {"input_tokens": 2_400, "output_tokens": 80}
    each = [{"model": "big", "token_count": tokens}, {"model": "small", "token_count": tokens}]
    for models, named in ((each[:1], "big"), (each, None)):
        quota = {"token_count": tokens, "model_usage": models}
        used = usage_of({"_meta": {"quota": quota}})
        assert used == Usage(input=2_400, output=80, model=named)


def test_what_nobody_described_is_kept() -> None:
    event = decoded({"method": "_vendor/thing", "params": {"a": 1}}, Lane.OBSERVE)
    assert isinstance(event.body, Unknown)
    assert "vendor" in event.body.text


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b"\xff", b'{"watchgate": "x"}'])
def test_what_is_no_message_is_refused(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        ADAPTER.decode(raw, Intake(lane=Lane.RELAY, at=Instant(0, 0.0)))


def test_nothing_is_said_to_what_is_only_watched() -> None:
    params = {"sessionId": "s", "toolCall": {}, "options": [ONCE]}
    message = {"id": 1, "method": "session/request_permission", "params": params}
    event = decoded(message, Lane.OBSERVE)
    assert isinstance(event, AcpEvent)
    assert isinstance(event.body, ToolCall)
    assert told(event, SayAllow()) is None
    assert ADAPTER.closed("", Lane.RELAY, "why").stdout == b""
    assert json.loads(ADAPTER.closed("", Lane.GATE, "why").stdout) == {"result": CANCELLED}
