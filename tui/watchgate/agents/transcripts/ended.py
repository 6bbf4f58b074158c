"""The ends of calls in transcripts: which ran, and which were refused before.

Sources, each measured with the released program: Claude Code 2.1.329 (`tool_result` blocks, and
`toolDenialKind` on the line of a refusal), Codex CLI 0.169 (`*_output` items), Gemini CLI 0.61
(`toolCalls` with their `status`), Qwen Code 0.24 (`toolCallResult` with its `executionStatus`) and
Copilot CLI 1.0 (`tool.execution_complete`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from watchgate.agents.transcripts.lines import mapping, parts, word
from watchgate.core.json_faults import JSON_FAULTS

Ends = Iterator[tuple[str, bool]]

_CLAUDE_REFUSALS: Final = ("<tool_use_error>", "PreToolUse:", "The user doesn't want")
_CODEX_BLOCKED: Final = "Command blocked by PreToolUse hook"


def ended(agent: str, chunk: bytes) -> Ends:
    """Yields the calls that these whole lines say are over, by their ids, and whether each ran.

    A line that cannot be read is skipped. `agent` must be one of `ENDS`.
    """
    mark, read = ENDS[agent]
    for line in chunk.split(b"\n"):
        if mark not in line:
            continue
        try:
            fields = msgspec.json.decode(line)
        except JSON_FAULTS:
            continue
        yield from read(mapping(fields))


def _claude(fields: dict[str, Any]) -> Ends:
    for block in parts(mapping(fields.get("message")).get("content")):
        if block.get("type") == "tool_result":
            refused = "toolDenialKind" in fields or (
                block.get("is_error") is True
                and str(block.get("content")).startswith(_CLAUDE_REFUSALS)
            )
            yield word(block.get("tool_use_id")), not refused


def _codex(fields: dict[str, Any]) -> Ends:
    item = mapping(fields.get("payload"))
    if fields.get("type") == "response_item" and word(item.get("type")).endswith("_call_output"):
        yield word(item.get("call_id")), not str(item.get("output")).startswith(_CODEX_BLOCKED)


def _gemini(fields: dict[str, Any]) -> Ends:
    """Reads ends; a failure counts as refused, since a command that fails is a success here."""
    changes = mapping(fields.get("$set")) or fields
    for message in (fields, *parts(changes.get("messages"))):
        for call in parts(message.get("toolCalls")):
            if call.get("status") in ("success", "error", "cancelled"):
                yield word(call.get("id")), call.get("status") == "success"


def _qwen(fields: dict[str, Any]) -> Ends:
    result = mapping(fields.get("toolCallResult"))
    if fields.get("type") == "tool_result":
        refused = result.get("executionStatus") == "not_started" or (
            result.get("status") == "cancelled"
        )
        yield word(result.get("callId")), not refused


def _copilot(fields: dict[str, Any]) -> Ends:
    data = mapping(fields.get("data"))
    if fields.get("type") == "tool.execution_complete":
        yield word(data.get("toolCallId")), data.get("success") is True


ENDS: Final[dict[str, tuple[bytes, Callable[[dict[str, Any]], Ends]]]] = {
    "claude": (b'"tool_result"', _claude),
    "codex": (b"_call_output", _codex),
    "gemini": (b'"toolCalls"', _gemini),
    "qwen": (b'"toolCallResult"', _qwen),
    "copilot": (b"tool.execution_complete", _copilot),
}
"""The agents whose transcripts tell of ends: what such a line holds, and how to read it."""
