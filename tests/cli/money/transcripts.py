"""Files of agents for the tests of `costs`, and prices that are easy to reckon with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PRICES = """
[[price]]
model = "small"
input = 1
output = 10
cache_read = 0.1

[[price]]
model = "large"
input = 2
output = 20
"""
"""Dollars for a million tokens: of `small`, one of a thousand is a tenth of a cent."""


def write_prices() -> None:
    """A configuration with these prices."""
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(PRICES)
    config.chmod(0o600)


def transcript(session: str, *, sub: str = "") -> Path:
    """Where Claude Code writes that session, or a sub-agent of it, down."""
    projects = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-src-api"
    below = f"{session}/subagents/agent-{sub}" if sub else session
    path = projects / f"{below}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def line(session: str, id: str, *, day: int = 2, sub: str = "", **told: Any) -> str:
    """One answer of a model, as Claude Code writes it."""
    usage = {
        "input_tokens": told.get("input", 1000),
        "output_tokens": told.get("output", 100),
        "cache_read_input_tokens": told.get("cache_read", 0),
        "cache_creation_input_tokens": told.get("cache_write", 0),
    }
    answer = {
        "type": "assistant",
        "sessionId": session,
        "uuid": f"u-{id}",
        "requestId": f"req-{id}",
        "timestamp": told.get("at", f"2026-11-{day:02}T09:00:00.000Z"),
        "isSidechain": bool(sub),
        "cwd": "/src/api",
        "message": {
            "id": f"msg-{id}",
            "model": told.get("model", "small"),
            "stop_reason": "end_turn",
            "content": [{"type": "tool_use", "id": f"toolu-{id}", "name": "Bash", "input": {}}],
            "usage": usage,
        },
    }
    if sub:
        answer["agentId"] = sub
    return json.dumps(answer) + "\n"


def prompt(session: str, id: str) -> str:
    """What a person asked for, which begins a turn."""
    told = {
        "type": "user",
        "sessionId": session,
        "uuid": id,
        "promptId": id,
        "timestamp": "2026-11-02T08:59:00.000Z",
        "message": {"role": "user", "content": "go on"},
    }
    return json.dumps(told) + "\n"
