"""What the core is fed: hook payloads as Claude Code writes them, and our own JSON lines."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

SESSIONS = 8
CWD = "/home/alice/src/shop"
_TEXT = "The checkout total is computed twice: once in the cart and once more when it is rendered. "
_TOOLS: tuple[tuple[str, dict[str, Any], Any], ...] = (
    (
        "Read",
        {"file_path": f"{CWD}/src/cart/totals_{{n}}.py", "offset": 120, "limit": 80},
        {"type": "text", "file": {"filePath": f"{CWD}/src/cart/totals.py", "content": _TEXT * 8}},
    ),
    (
        "Bash",
        {"command": "pytest tests/cart -q -k total_{n} | tail -5", "description": "Run the tests"},
        {"stdout": "." * 400 + "\n400 passed in 2.13s", "stderr": "", "interrupted": False},
    ),
    (
        "Edit",
        {
            "file_path": f"{CWD}/src/cart/totals_{{n}}.py",
            "old_string": "    total = sum(line.price for line in lines)\n    return total\n",
            "new_string": "    return sum(line.price * line.count for line in lines)\n",
        },
        {"filePath": f"{CWD}/src/cart/totals.py", "userModified": False, "structuredPatch": []},
    ),
    ("Grep", {"pattern": "def total_{n}", "path": f"{CWD}/src"}, {"numFiles": 3, "content": ""}),
)


def hook_events() -> Iterator[tuple[str, bytes]]:
    """Native name and payload of one observed hook call after another, without end.

    Turns of one prompt and four calls, each call with the event before it and the one after it;
    eight sessions in turns; about 600 bytes on average. No two calls are equal.
    """
    for turn in itertools.count():
        session = turn % SESSIONS
        common = {
            "session_id": f"5f0c7f0e-2d61-4b3a-9a55-0000000000{session:02}",
            "transcript_path": f"/home/alice/.claude/projects/shop/{session}.jsonl",
            "cwd": CWD,
            "permission_mode": "default",
        }
        prompt = common | {"hook_event_name": "UserPromptSubmit", "prompt": _TEXT * 4}
        yield "UserPromptSubmit", json.dumps(prompt).encode()
        for step, (name, args, response) in enumerate(_TOOLS):
            number = turn * len(_TOOLS) + step
            own = {k: v.format(n=number) if isinstance(v, str) else v for k, v in args.items()}
            call = common | {
                "tool_name": name,
                "tool_input": own,
                "tool_use_id": f"toolu_01ABCDEF{number:012}",
            }
            yield "PreToolUse", json.dumps(call | {"hook_event_name": "PreToolUse"}).encode()
            after = {"hook_event_name": "PostToolUse", "tool_response": response}
            yield "PostToolUse", json.dumps(call | after | {"duration_ms": 41}).encode()


def lines() -> Iterator[bytes]:
    """The same story as JSON lines of our own form, each with its line end; about 600 bytes.

    Five pieces of a message stand around each call: only who streams those sends many lines.
    """
    for turn in itertools.count():
        common = {
            "watchgate": 1,
            "agent": "forge",
            "session": f"5f0c7f0e-2d61-4b3a-9a55-0000000000{turn % SESSIONS:02}",
            "cwd": CWD,
            "turn": str(turn),
        }
        yield _line(common | {"kind": "prompt.submit", "text": _TEXT * 6})
        for step, (name, args, response) in enumerate(_TOOLS):
            number = turn * len(_TOOLS) + step
            own = {k: v.format(n=number) if isinstance(v, str) else v for k, v in args.items()}
            for _ in range(5):
                yield _line(common | {"kind": "message", "text": _TEXT * 4})
            call = common | {"tool": name, "input": own, "call_id": f"call_{number:012}"}
            yield _line(call | {"kind": "tool.pre"})
            said = json.dumps(response) + _TEXT
            yield _line(call | {"kind": "tool.post", "ok": True, "took_ms": 41, "text": said})


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
