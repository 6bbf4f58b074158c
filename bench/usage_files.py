"""Transcripts to measure with: most bytes are what tools said, one line in three has usage."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

FILE_BYTES = 8 * 1024 * 1024
OUTPUTS = [
    "".join(f'total_{row} = "{row * number}"  # ä \\ "quoted"\n' for row in range(40))
    for number in range(48)
]


def write_bulk(folder: Path, size: int) -> None:
    """Half of so many bytes in `folder/claude`, half in `folder/codex`."""
    dice = random.Random(8)
    for agent, lines_of in (("claude", claude_lines), ("codex", codex_lines)):
        left = size // 2
        while left > 0:
            session = str(UUID(int=dice.getrandbits(128), version=4))
            path = folder / agent / name(agent, session)
            path.parent.mkdir(parents=True, exist_ok=True)
            room = min(left, FILE_BYTES)
            with path.open("wb") as file:
                for line in lines_of(session, dice):
                    if file.tell() >= room:
                        break
                    file.write(line)
                left -= max(file.tell(), 1)


def name(agent: str, session: str) -> str:
    """Where an agent's folder has the transcript of a session."""
    if agent == "claude":
        return f"projects/-src-app/{session}.jsonl"
    return f"sessions/2026/11/02/rollout-2026-11-02T09-00-00-{session}.jsonl"


def claude_lines(session: str, dice: random.Random) -> Iterator[bytes]:
    """Lines of a session: an answer in two blocks, and what a tool said."""
    number = 0
    while True:
        number += 1
        usage = {
            "input_tokens": dice.randint(1, 900),
            "cache_creation_input_tokens": 3000,
            "cache_read_input_tokens": dice.randint(0, 60_000),
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 3000},
            "output_tokens": dice.randint(20, 3000),
            "service_tier": "standard",
        }
        request = f"req_{session}{number}"
        for block, stop in (
            ({"type": "text", "text": dice.choice(OUTPUTS)[:500]}, None),
            ({"type": "tool_use", "id": f"toolu_{number}", "name": "Read"}, "tool_use"),
        ):
            said = {
                "id": f"msg_{session}{number}",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": [block],
                "stop_reason": stop,
                "usage": usage,
            }
            yield _line(
                _claude(session, number, dice, "assistant", message=said, requestId=request)
            )
        told = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": _said(dice)}
        said = {"role": "user", "content": [told]}
        yield _line(_claude(session, number, dice, "user", message=said))


def codex_lines(session: str, dice: random.Random) -> Iterator[bytes]:
    """Lines of a rollout: a call, what it said, and the tokens."""
    yield _line(_codex(0, "session_meta", id=session, cwd="/src/app", cli_version="0.169.0"))
    yield _line(_codex(0, "turn_context", model="gpt-6.1-sol"))
    total = dict.fromkeys(
        ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens"), 0
    )
    number = 0
    while True:
        number += 1
        read, written = dice.randint(2000, 90_000), dice.randint(50, 4000)
        last = dict(zip(total, (read, read // 2, written, read + written), strict=True))
        total = {key: total[key] + last[key] for key in total}
        info = {
            "total_token_usage": total,
            "last_token_usage": last,
            "model_context_window": 272_000,
        }
        item: dict[str, Any] = {"name": "shell", "arguments": '{"cmd":"rg x"}', "call_id": "c"}
        yield _line(_codex(number, "response_item", **{"type": "function_call", **item}))
        item = {"type": "function_call_output", "call_id": "c", "output": _said(dice)}
        yield _line(_codex(number, "response_item", **item))
        yield _line(_codex(number, "event_msg", type="token_count", info=info))


def _said(dice: random.Random) -> str:
    return "".join(dice.choices(OUTPUTS, k=dice.randint(1, 10)))


def _claude(
    session: str, number: int, dice: random.Random, kind: str, **more: Any
) -> dict[str, Any]:
    return {
        "parentUuid": str(UUID(int=dice.getrandbits(128), version=4)),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/src/app",
        "sessionId": session,
        "version": "2.1.240",
        "gitBranch": "main",
        "type": kind,
        "uuid": str(UUID(int=dice.getrandbits(128), version=4)),
        "timestamp": _time(number),
        **more,
    }


def _codex(number: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": _time(number), "type": kind, "payload": payload}


def _time(number: int) -> str:
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-11-02T{hours % 24:02d}:{minutes:02d}:{seconds:02d}.125Z"


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
