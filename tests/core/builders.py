"""Events as agents send them, each with only what a test says about it."""

from __future__ import annotations

from typing import Any

from watchgate.core.base.clock import Instant
from watchgate.core.base.ids import digest
from watchgate.core.model.events import (
    Can,
    Event,
    Kind,
    Lane,
    Question,
    Sub,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolClass,
    ToolResult,
)
from watchgate.core.presence.proof import Proof

BELOW = Proof(standing="below")
"""What a command below an agent has proven."""

START = Instant(1_750_000_000_000_000, 5_000.0)
SAYS_ALL = Can(allow=True, deny=True, modify=True, stop=True)
ONLY_DENIES = Can(deny=True)


def shell(command: str = "high", call_id: str | None = None, **more: Any) -> Tool:
    """A shell call; its hash covers the command alone, as the adapters' does."""
    return Tool("Bash", "Bash", "shell", {"command": command, **more}, digest(command), call_id)


def pre(
    tool: Tool | None = None, lane: Lane = Lane.GATE, can: Can = SAYS_ALL, **fields: Any
) -> Event:
    """A call that is about to run, on a gate."""
    body = ToolCall(tool or shell(call_id="c1"))
    return _event("tool.pre", "PreToolUse", lane, body, can=can, **fields)


def permission(tool: Tool | None = None, *, races: bool = True, **fields: Any) -> Event:
    """The agent's own question about a call, on the relay."""
    body = ToolCall(tool or shell())
    fields = {"can": SAYS_ALL, "races_dialog": races, **fields}
    return _event("tool.permission", "PermissionRequest", Lane.RELAY, body, **fields)


def post(
    tool: Tool | None = None, *, ok: bool = True, interrupted: bool = False, **fields: Any
) -> Event:
    """A call that ran."""
    body = ToolResult(tool or shell(call_id="c1"), ok=ok, interrupted=interrupted)
    kind: Kind = "tool.post" if ok else "tool.error"
    return _event(kind, "PostToolUse", Lane.OBSERVE, body, **fields)


def batch(*tools: Tool, **fields: Any) -> Event:
    """The calls of one model turn, ended."""
    return _event("tool.batch", "PostToolBatch", Lane.OBSERVE, ToolBatch(tools), **fields)


def resolved(tool: Tool, **fields: Any) -> Event:
    """The agent's own word that it does not run a call."""
    body = ToolCall(tool)
    return _event("tool.permission.resolved", "PermissionDenied", Lane.OBSERVE, body, **fields)


def question(
    *asked: Question, cls: ToolClass = "question", can: Can | None = None, **fields: Any
) -> Event:
    """What an agent asks a person while it waits, in its own dialog too."""
    name = "ExitPlanMode" if cls == "plan" else "AskUserQuestion"
    tool = Tool(name, name, cls, {"asked": [each.text for each in asked]}, digest(name), None)
    can = can or (SAYS_ALL if cls == "plan" else Can(deny=True, answer=True))
    body = ToolCall(tool, asked)
    fields = {"can": can, "races_dialog": True, "lane": Lane.RELAY, **fields}
    lane = fields.pop("lane")
    return _event("question", "PermissionRequest", lane, body, **fields)


def other(kind: Kind, lane: Lane = Lane.OBSERVE, **fields: Any) -> Event:
    """Any event that is about no call."""
    return _event(kind, kind, lane, Text("words"), **fields)


def sub(name: str = "s1") -> Sub:
    """A sub-agent."""
    return Sub(name, "helper")


def _event(kind: Kind, native: str, lane: Lane, body: Any, **fields: Any) -> Event:
    known = {"agent": "claude", "session": "one", "at": START, "cwd": "/home/u/app", **fields}
    return Event(kind=kind, native=native, lane=lane, body=body, **known)
