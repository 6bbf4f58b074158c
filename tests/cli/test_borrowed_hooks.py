"""A hook of Claude's settings that Copilot runs beside its own: one request, answered on both."""

from __future__ import annotations

import json
import socket
from functools import partial
from typing import Any

import pytest

from tests.cli.conftest import WAIT_S, Cli, Core
from tests.e2e.programs import until
from watchgate.core.model.records import Record
from watchgate.service.journal import journal_reader

CALL = {"command": "git push --force"}
OWN = {"sessionId": "s1", "timestamp": 1, "cwd": "/srv/app", "toolName": "bash", "toolArgs": CALL}
BORROWED = {
    "hook_event_name": "PreToolUse",
    "session_id": "s1",
    "timestamp": "2026-11-20T10:00:00.000Z",
    "cwd": "/srv/app",
    "tool_name": "Bash",
    "tool_input": {**CALL, "description": "push"},
}


def hook(core: Core, agent: str, event: str, payload: dict[str, Any]) -> socket.socket:
    raw = json.dumps(payload).encode()
    head = f"watchgate/1 {agent} gate\nlength: {len(raw)}\nevent: {event}\nenv.COPILOT_CLI: 1\n\n"
    found = socket.socket(socket.AF_UNIX)
    found.settimeout(WAIT_S)
    found.connect(str(core.paths.ingest_socket))
    found.sendall(head.encode() + raw)
    return found


def asked_before(core: Core) -> list[Record]:
    records = journal_reader.read(core.paths.journal, 1, 1_000)
    return [record for record in records if record.kind == "tool.pre"]


def said(hook: socket.socket) -> tuple[int, dict[str, Any]]:
    """The exit code and what is on stdout."""
    data = b""
    while chunk := hook.recv(65536):
        data += chunk
    hook.close()
    line, body = data.split(b"\n", 1)
    code, out, _ = map(int, line.split())
    return code, json.loads(body[:out])


def heard_of(core: Core, calls: int) -> bool:
    return len(asked_before(core)) == calls


@pytest.mark.parametrize("first", ["own", "borrowed"])
def test_one_request_is_denied_on_both_in_the_shape_of_each(
    core: Core, cli: Cli, first: str
) -> None:
    hooks: dict[str, socket.socket] = {}
    for number, name in enumerate(sorted(("own", "borrowed"), key=lambda each: each != first), 1):
        own_words = name == "own"
        agent, event = ("copilot", "preToolUse") if own_words else ("claude", "PreToolUse")
        hooks[name] = hook(core, agent, event, OWN if own_words else BORROWED)
        until(partial(heard_of, core, number), "the call")
    [request] = cli("ls", "--json").lines
    assert request["agent"] == "copilot"

    cli("deny", request["id"], "--reason", "not on Friday")

    own_code, own = said(hooks["own"])
    code, borrowed = said(hooks["borrowed"])
    assert own["permissionDecision"] == "deny"
    assert "not on Friday" in own["permissionDecisionReason"]
    assert borrowed["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "not on Friday" in borrowed["hookSpecificOutput"]["permissionDecisionReason"]
    assert cli("ls", "--json").lines == []
    assert (own_code, code) == (2, 2)
    assert {record.agent for record in asked_before(core)} == {"copilot"}
