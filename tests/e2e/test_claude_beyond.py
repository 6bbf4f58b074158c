"""Claude Code's control requests, permission tool and status line, each as its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.driving import Driver
from tests.e2e.programs import AGENT, Core, bash

CLAUDE = str(Path(__file__).with_name("claude_print.py"))
RISKY = "git push --force"


@pytest.fixture
def program() -> Iterator[Driver]:
    driver = Driver("stream-json", [sys.executable, CLAUDE])
    yield driver
    driver.kill()


def prompt(program: Driver) -> None:
    program.send({"type": "user", "message": {"role": "user", "content": RISKY}})


def told(program: Driver) -> tuple[dict[str, Any], list[str]]:
    """What Claude Code was told, and the types of the lines that came until its result."""
    types = []
    while (line := program.line())["type"] != "result":
        types.append(line["type"])
    said: dict[str, Any] = json.loads(line["result"])
    return said, types


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_control_request_is_answered_by_the_operator_alone(
    attended: Core, program: Driver, decision: str
) -> None:
    prompt(program)
    (request,) = attended.pending()
    assert (request["agent"], request["session"]) == ("claude", "s-1")
    if decision == "allow":
        attended.allow(request)
    else:
        attended.cli("deny", request["id"], "--reason", "not today")
    said, types = told(program)
    assert said["behavior"] == decision
    if decision == "allow":
        assert said["updatedInput"] == {"command": RISKY}
    else:
        assert "not today" in said["message"]
    assert types == ["system", "assistant"]
    assert program.end() == 0
    assert attended.seen("usage")["data"]["total_cost_usd"] == 0.5
    assert attended.seen("prompt.submit")["session"] == "s-1"


def test_what_is_handed_back_is_asked_by_the_program(attended: Core, program: Driver) -> None:
    prompt(program)
    (request,) = attended.pending()
    attended.cli("handback", request["id"])
    while (line := program.line())["type"] != "control_request":
        pass
    assert line["request"]["tool_name"] == "Bash"
    response = {"subtype": "success", "request_id": "r-1", "response": {"behavior": "deny"}}
    program.send({"type": "control_response", "response": response})
    assert told(program)[0] == {"behavior": "deny"}


class Tool:
    """Our MCP server below a stand-in for Claude Code."""

    def __init__(self) -> None:
        argv = [sys.executable, "-m", "watchgate", "permission-prompt"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", AGENT, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "CLAUDE_CODE_SESSION_ID": "s-7"},
        )
        self.send("initialize", 1, {"protocolVersion": "2025-06-18"})
        assert self.result()["protocolVersion"] == "2025-06-18"

    def send(self, method: str, id: int | None, params: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if id is None else {"id": id}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def result(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())["result"]
        return found

    def approve(self) -> None:
        asked = {"tool_name": "Bash", "input": {"command": RISKY}, "tool_use_id": "t1"}
        self.send("tools/call", 9, {"name": "approve", "arguments": asked})

    def said(self) -> dict[str, Any]:
        (block,) = self.result()["content"]
        found: dict[str, Any] = json.loads(block["text"])
        return found


@pytest.fixture
def tool() -> Iterator[Tool]:
    tool = Tool()
    yield tool
    tool.process.kill()
    tool.process.communicate()


def test_the_permission_tool_is_listed(tool: Tool) -> None:
    tool.send("notifications/initialized", None, {})
    tool.send("tools/list", 2, {})
    assert [each["name"] for each in tool.result()["tools"]] == ["approve"]


def test_the_permission_tool_says_what_the_operator_says(running: Core, tool: Tool) -> None:
    tool.approve()
    (request,) = running.pending()
    assert (request["session"], request["lane"]) == ("s-7", "gate")
    running.allow(request)
    assert tool.said() == {"behavior": "allow", "updatedInput": {"command": RISKY}}
    assert running.cli("ls", "--json").lines == []


def test_the_permission_tool_denies_what_is_handed_back(running: Core, tool: Tool) -> None:
    tool.approve()
    (request,) = running.pending()
    running.cli("handback", request["id"])
    said = tool.said()
    assert said["behavior"] == "deny"
    assert "nobody else can be asked" in said["message"]


def test_the_permission_tool_denies_without_a_core(core: Core, tool: Tool) -> None:
    tool.approve()
    said = tool.said()
    assert said["behavior"] == "deny"
    assert "no core" in said["message"]


def test_the_permission_tool_and_a_hook_of_the_same_call_are_one_card(
    running: Core, tool: Tool
) -> None:
    folder = str(Path.cwd())
    hook = running.hook("PreToolUse", bash(RISKY, "t1", "s-7", cwd=folder))
    (first,) = running.pending()
    tool.approve()
    (same,) = running.pending()
    assert same["id"] == first["id"]
    running.cli("deny", first["id"])
    assert hook.done().code == 2
    assert tool.said()["behavior"] == "deny"


def status_line(payload: dict[str, Any]) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "watchgate", "statusline"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        timeout=30,
    )
    return done.returncode, done.stdout.decode()


STATUS = {
    "session_id": "s-8",
    "cwd": "/tmp",
    "model": {"id": "m-1", "display_name": "Opus 4.5"},
    "cost": {"total_cost_usd": 0.4249},
    "context_window": {"used_percentage": 31.2, "current_usage": {"input_tokens": 7}},
}


def test_the_status_line_shows_and_records_what_a_session_costs(running: Core) -> None:
    assert status_line(STATUS) == (0, "watchgate · Opus 4.5 · $0.42 · ctx 31%\n")
    found = running.seen("usage")
    assert (found["agent"], found["session"]) == ("claude", "s-8")
    assert (found["data"]["total_cost_usd"], found["data"]["input"]) == (0.4249, 7)


def test_the_status_line_is_empty_without_a_core(core: Core) -> None:
    assert status_line(STATUS) == (0, "")
