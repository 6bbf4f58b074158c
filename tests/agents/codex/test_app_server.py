"""What Codex's app-server asks and tells, read by the adapter of Codex."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOTHING, STOP, heard, told
from watchgate.agents.base import HookAnswer
from watchgate.core.model.events import Usage
from watchgate.core.model.verdicts import Reply

ASKS: dict[str, Any] = {
    "id": 3,
    "method": "item/commandExecution/requestApproval",
    "params": {
        "threadId": "th-1",
        "turnId": "tu-1",
        "itemId": "call_4",
        "reason": "May I build?",
        "command": "/bin/bash -lc make",
        "cwd": "/home/dev/shop",
    },
}


def test_an_approval() -> None:
    event = heard("codex", ASKS)

    assert (event.kind, event.agent, event.session, event.turn) == (
        "tool.permission",
        "codex",
        "th-1",
        "tu-1",
    )
    assert event.tool is not None
    assert (event.tool.name, event.tool.call_id) == ("Bash", "call_4")
    assert event.tool.input["command"] == "/bin/bash -lc make"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(b'{"result":{"decision":"accept"}}')),
        (DENY, HookAnswer(b'{"result":{"decision":"decline"}}')),
        (STOP, HookAnswer(b'{"result":{"decision":"cancel"}}')),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("codex", ASKS, reply) == answer


def test_tokens_of_a_thread_so_far_and_of_its_context() -> None:
    spent = {
        "inputTokens": 9,
        "cachedInputTokens": 4,
        "cacheWriteInputTokens": 0,
        "outputTokens": 2,
        "reasoningOutputTokens": 1,
    }
    usage = {"total": spent, "last": {"totalTokens": 7}, "modelContextWindow": 272_000}
    params = {"threadId": "th-1", "turnId": "tu-1", "tokenUsage": usage}
    event = heard("codex", {"method": "thread/tokenUsage/updated", "params": params})

    assert event.body == Usage(
        input=9,
        output=2,
        cache_read=4,
        cache_write=0,
        counts="total",
        cached_within=True,
        reasoning=1,
        context_used=7,
        context_size=272_000,
    )


def test_a_hook_whose_command_speaks_of_methods_stays_a_hook() -> None:
    call = {
        "session_id": "s-1",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": 'echo \'{"method":"x","params":{}}\''},
    }

    assert heard("codex", call).kind == "tool.pre"
