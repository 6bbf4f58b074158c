"""The ends of calls in transcripts: which ran, and which were refused before.

Sources, each measured with the released program: Claude Code 2.1.329 (`tool_result` blocks, and
`toolDenialKind` on the line of a refusal), Codex CLI 0.169 (`*_output` items), Gemini CLI 0.61
(`toolCalls` with their `status`), Qwen Code 0.24 (`toolCallResult` with its `executionStatus`) and
Copilot CLI 1.0 (`tool.execution_complete`).

Interruptions are in transcripts alone, no hook tells of them: Claude Code 2.1 writes a `user` line
whose text is "[Request interrupted by user]", or "... for tool use]"; Codex CLI 0.169 an
`event_msg` of type `turn_aborted`; Copilot CLI 1.0 a line of type `abort`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from watchgate.agents.transcripts.transcript_lines import decoded, mapping, moment_us, parts, word

_CLAUDE_TEXT: Final = "[Request interrupted by user"


def interrupted_at_us(agent: str, chunk: bytes) -> int | None:
    """Returns the time of the last turn interrupted by the person (UTC µs); None without one.

    A line that cannot be read is skipped, and so are those of sub-agents: their session goes on.
    """
    if agent not in INTERRUPTIONS:
        return None
    mark, tells = INTERRUPTIONS[agent]
    moments_us = (
        moment_us(fields.get("timestamp"))
        for fields in _marked(chunk, mark)
        if tells(fields) and fields.get("isSidechain") is not True
    )
    return max(moments_us, default=None)


def _marked(chunk: bytes, mark: bytes) -> Iterator[dict[str, Any]]:
    """Returns the lines with this mark in them; the fields of an unreadable one are none."""
    return (mapping(decoded(line)) for line in chunk.split(b"\n") if mark in line)


def _is_claude_interruption(fields: dict[str, Any]) -> bool:
    if fields.get("type") != "user":
        return False
    content = mapping(fields.get("message")).get("content")
    texts = [content] if isinstance(content, str) else [p.get("text") for p in parts(content)]
    return any(isinstance(text, str) and text.startswith(_CLAUDE_TEXT) for text in texts)


def _is_codex_interruption(fields: dict[str, Any]) -> bool:
    payload = mapping(fields.get("payload"))
    return fields.get("type") == "event_msg" and word(payload.get("type")) == "turn_aborted"


def _is_copilot_interruption(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "abort"


INTERRUPTIONS: Final[dict[str, tuple[bytes, Callable[[dict[str, Any]], bool]]]] = {
    "claude": (_CLAUDE_TEXT.encode(), _is_claude_interruption),
    "codex": (b"turn_aborted", _is_codex_interruption),
    "copilot": (b'"abort"', _is_copilot_interruption),
}
"""The agents whose transcripts tell of it: what such a line holds, and how to read it."""


Ends = Iterator[tuple[str, bool]]

_CLAUDE_REFUSALS: Final = ("<tool_use_error>", "PreToolUse:", "The user doesn't want")
_CODEX_BLOCKED: Final = "Command blocked by PreToolUse hook"


def ended_calls(agent: str, chunk: bytes) -> Ends:
    """Yields the calls that these whole lines say are over, by their ids, and whether each ran.

    A line that cannot be read is skipped. `agent` must be one of `ENDS`.
    """
    mark, read = ENDS[agent]
    for fields in _marked(chunk, mark):
        yield from read(fields)


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
