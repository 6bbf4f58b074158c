"""Lines of Claude Code transcripts for tests."""

from __future__ import annotations

import json
from typing import Any

from watchgate.agents.usage.claude_usage import ClaudeReader
from watchgate.core.usage.usage_calls import UsageCall

PATH = "/home/dev/.claude/projects/-src-demo/5f.jsonl"
AGENT_PATH = "/home/dev/.claude/projects/-src-demo/5f/subagents/agent-a1.jsonl"
AT = "2026-11-02T09:00:01.123Z"
AT_US = 1_793_610_001_123_000
TEXT = {"type": "text", "text": "done"}


def tool(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Read", "input": {"file_path": "/a"}}


def usage(**over: Any) -> dict[str, Any]:
    told = {"input_tokens": 10, "cache_read_input_tokens": 300, "output_tokens": 20}
    return {**told, "cache_creation_input_tokens": 0, "service_tier": "standard", **over}


def said(told: Any = None, **over: Any) -> dict[str, Any]:
    """A line of a response; names in capitals are fields of the line, the others of the message."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "model": "claude-opus-5-5",
        "role": "assistant",
        "content": [TEXT],
    }
    message |= {"stop_reason": "end_turn", "usage": usage() if told is None else told}
    line: dict[str, Any] = {
        "type": "assistant",
        "sessionId": "5f",
        "uuid": "u1",
        "timestamp": AT,
        "cwd": "/src",
    }
    line |= {"requestId": "req_1", "isSidechain": False}
    for name, value in over.items():
        (line if name in LINE else message)[name] = value
    return {**line, "message": message}


LINE = {"type", "sessionId", "uuid", "timestamp", "cwd", "requestId", "isSidechain", "agentId"}


def asked(uuid: str, content: Any = "next", **over: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "sessionId": "5f", "uuid": uuid, "message": message, **over}


def jsonl(*lines: Any) -> bytes:
    return b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )


def read(*lines: Any, path: str = PATH) -> ClaudeReader:
    reader = ClaudeReader(path)
    reader.read(jsonl(*lines))
    return reader


def calls(*lines: Any, path: str = PATH) -> list[UsageCall]:
    return read(*lines, path=path).take()
