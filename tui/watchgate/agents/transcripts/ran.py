"""The calls that an agent's own transcript says have run, for those of which no hook told.

Sources: Claude Code 2.1 (`projects/*/<session>.jsonl`, messages with `tool_use` and `tool_result`
blocks), Codex CLI 0.169 (`sessions/**/rollout-*.jsonl`, `response_item` lines).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from watchgate.agents.claude import adapter as claude
from watchgate.agents.codex import adapter as codex
from watchgate.agents.hooks.tools import Classes, describe
from watchgate.core.events import Tool
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.recent import Recent

CALLS_KEPT = 500

Found = Iterator[tuple[str, Any]]


class Reader:
    """Reads one transcript's lines in order; a call has run once its result is in it."""

    def __init__(self, agent: str, since_us: int) -> None:
        """`agent` must be one of `READS`; lines said before `since_us` (UTC µs) are passed over."""
        self._calls, self._classes = READS[agent]
        self._since_us = since_us
        self._open: Recent[str, tuple[str, dict[str, Any]]] = Recent(CALLS_KEPT)

    def ran(self, chunk: bytes) -> list[Tool]:
        """The calls that these whole lines say have run; a line that cannot be read is skipped."""
        done: list[Tool] = []
        for line in chunk.splitlines():
            try:
                fields = msgspec.json.decode(line)
            except JSON_FAULTS:
                continue
            if not isinstance(fields, dict) or _said_us(fields) < self._since_us:
                continue
            for call_id, what in self._calls(fields):
                if isinstance(what, tuple):
                    self._open[call_id] = what
                elif (call := self._open.pop(call_id, None)) is not None and what is True:
                    done.append(describe(*call, call_id, self._classes))
        return done


def _claude(fields: dict[str, Any]) -> Found:
    """A failure is passed over: a call that was refused or never valid looks the same."""
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        name, args = block.get("name"), block.get("input")
        if block.get("type") == "tool_use" and isinstance(name, str) and isinstance(args, dict):
            yield str(block.get("id")), (name[:512], args)
        elif block.get("type") == "tool_result":
            yield str(block.get("tool_use_id")), block.get("is_error") is not True


def _codex(fields: dict[str, Any]) -> Found:
    item = fields.get("payload")
    if fields.get("type") != "response_item" or not isinstance(item, dict):
        return
    kind, call_id, name = item.get("type"), str(item.get("call_id")), str(item.get("name"))
    if kind == "function_call" and name in _CODEX_SHELLS:
        yield call_id, ("Bash", _arguments(item.get("arguments")))
    elif kind == "custom_tool_call" and name == "apply_patch":
        yield call_id, ("apply_patch", {"command": item.get("input")})
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield call_id, not str(item.get("output")).startswith(_CODEX_BLOCKED)


def _arguments(told: Any) -> dict[str, Any]:
    try:
        args = msgspec.json.decode(told) if isinstance(told, str) else {}
    except JSON_FAULTS:
        return {}
    if not isinstance(args, dict):
        return {}
    return {"command": args["cmd"]} if "cmd" in args else args


def _said_us(fields: dict[str, Any]) -> int:
    """When a line was said; one that does not tell is taken to be old."""
    try:
        return int(datetime.fromisoformat(str(fields.get("timestamp"))).timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return 0


_CODEX_BLOCKED: Final = "Command blocked by PreToolUse hook"
_CODEX_SHELLS: Final = frozenset({"shell", "shell_command", "exec_command", "local_shell"})

READS: Final[dict[str, tuple[Callable[[dict[str, Any]], Found], Classes]]] = {
    "claude": (_claude, claude.CLASSES),
    "codex": (_codex, codex.CLASSES),
}
"""The agents whose transcripts are read."""
