"""Lines of Codex rollouts for tests."""

from __future__ import annotations

import json
from typing import Any

from watchgate.agents.usage.codex_usage import CodexReader
from watchgate.core.usage.usage_calls import UsageCall

THREAD = "019fa149-0000-7000-8000-000000000001"
PATH = f"/home/dev/.codex/sessions/2026/11/02/rollout-2026-11-02T09-00-00-{THREAD}.jsonl"
AT = "2026-11-02T09:00:01.123Z"
AT_US = 1_793_610_001_123_000


def line(kind: str, payload: Any, at: str = AT) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(thread: str = THREAD, **over: Any) -> dict[str, Any]:
    return line("session_meta", {"id": thread, "cwd": "/src", "source": "cli", **over})


def turn(model: str | None = "gpt-6-sol", turn_id: str = "t1", **over: Any) -> dict[str, Any]:
    return line("turn_context", {"model": model, "turn_id": turn_id, "cwd": "/src", **over})


def amount(read: int, output: int = 0, cached: int = 0, **over: Any) -> dict[str, Any]:
    told = {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": output}
    return {**told, "reasoning_output_tokens": 0, "total_tokens": read + output, **over}


def counted(total: Any, last: Any = None, *, at: str = AT, **over: Any) -> dict[str, Any]:
    """A `token_count`; more fields are those of the payload, `window` that of the model."""
    info = {"total_token_usage": total, "model_context_window": over.pop("window", None)}
    if last is not None:
        info["last_token_usage"] = last
    return line("event_msg", {"type": "token_count", "info": info, **over}, at)


def used(call_id: str, kind: str = "function_call") -> dict[str, Any]:
    return line("response_item", {"type": kind, "name": "shell", "call_id": call_id})


def jsonl(*lines: Any) -> bytes:
    return b"".join(
        (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in lines
    )


def read(*lines: Any, path: str = PATH) -> CodexReader:
    reader = CodexReader(path)
    reader.read(jsonl(*lines))
    return reader


def calls(*lines: Any, path: str = PATH) -> list[UsageCall]:
    return read(*lines, path=path).take()
