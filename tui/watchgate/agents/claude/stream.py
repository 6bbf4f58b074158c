"""The lines of Claude Code's stream-json output: the kind and body of each.

One assistant message may come in several lines, each with one block. Calls that a line begins or
ends become events of their own, so the proxy names the block that an event is about.
Wire format: `claude -p --output-format stream-json --input-format stream-json`, version 2.1.
"""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.claude import claude_status
from watchgate.agents.hooks.event_bodies import Classes, describe_tool, text
from watchgate.agents.proxied.wrapped import WrappedMessage, count, items, number, table, word
from watchgate.core.model.events import (
    Body,
    Kind,
    SessionChange,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

TYPES: Final = frozenset(
    """assistant user system result control_request control_response control_cancel_request
    stream_event keep_alive rate_limit_event stream-json""".split()
)
Meaning = tuple[Kind, Body]


def meaning(wrapped: WrappedMessage, classes: Classes) -> Meaning:
    """Returns the kind of a line, or of the block of it that `context` names, and its body."""
    message = wrapped.message
    if "unread" in message:
        return "unknown", Unknown(word(message.get("why")), text(message["unread"]))
    block = table(wrapped.context.get("block"))
    if block:
        return _about_call(wrapped, block, classes)
    match message.get("type"):
        case "result":
            return _result(message, wrapped.context)
        case "system" if message.get("subtype") == "init":
            model = word(message.get("model")) or None
            return "session.start", SessionChange("init", wrapped.agent, model=model)
        case "assistant":
            return "message", Text(text(_words(message)))
        case "user" if wrapped.side == "editor":
            return "prompt.submit", Text(text(_words(message)))
        case str(sort) if sort in TYPES:
            # Only a `rate_limit_event` has any; without, it is a line like the others.
            limits = claude_status.limits_of_event(message)
            return ("usage", Usage(limits=limits)) if limits else ("notice", Text(text(message)))
        case sort:
            return "unknown", Unknown(f"no stream-json line of type {text(sort)}", text(message))


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the blocks of a message's content."""
    return items(table(message.get("message")).get("content"))


_TOKENS: Final = (
    ("input", "input_tokens", "inputTokens"),
    ("output", "output_tokens", "outputTokens"),
    ("cache_read", "cache_read_input_tokens", "cacheReadInputTokens"),
    ("cache_write", "cache_creation_input_tokens", "cacheCreationInputTokens"),
)
"""The names of the counts in a result: of the turn, and of each model since the process began."""


def usage(message: dict[str, Any]) -> Usage:
    """Returns the tokens and the cost that a result tells of."""
    turn_usage = table(message.get("usage"))
    models = table(message.get("modelUsage"))
    parts = [table(each) for each in models.values()]
    counts: dict[str, Any] = {
        name: _sum(parts, of_model) if parts else count(turn_usage.get(of_turn))
        for name, of_turn, of_model in _TOKENS
    }
    return Usage(
        **counts,
        total_cost_usd=number(message.get("total_cost_usd")),
        model=word(next(iter(models))) if len(models) == 1 else None,
        counts="total" if parts else "each",
    )


def _sum(parts: list[dict[str, Any]], name: str) -> int | None:
    """Returns a count over all models; None where none of them tells it."""
    counts = [each for part in parts if (each := count(part.get(name))) is not None]
    return sum(counts) if counts else None


def _result(message: dict[str, Any], context: dict[str, Any]) -> Meaning:
    if context.get("turn") is not True:
        return "usage", usage(message)
    failed = message.get("is_error") is True
    return ("turn.error" if failed else "turn.end"), Text(text(message.get("result")))


def _about_call(wrapped: WrappedMessage, block: dict[str, Any], classes: Classes) -> Meaning:
    """Returns a call that begins with this block, or ended with it."""
    if block.get("type") == "tool_use":
        return "tool.pre", ToolCall(_tool(block, classes))
    tool = _tool(table(wrapped.context.get("call")), classes)
    if _did_not_run(wrapped.message, word(block.get("tool_use_id"))):
        return "tool.permission.resolved", ToolCall(tool)
    failed = block.get("is_error") is True
    content = block.get("content")
    result = ToolResult(tool, not failed, text=text(_joined(items(content)) or content))
    return ("tool.error" if failed else "tool.post"), result


def _did_not_run(message: dict[str, Any], call: str) -> bool:
    call_metadata = items(message.get("tool_result_meta"))
    return any(each.get("id") == call and "non_execution_kind" in each for each in call_metadata)


def _tool(block: dict[str, Any], classes: Classes) -> Tool:
    name = word(block.get("name")) or "unknown tool"
    return describe_tool(name, table(block.get("input")), word(block.get("id")) or None, classes)


def _words(message: dict[str, Any]) -> str:
    content = table(message.get("message")).get("content")
    return content if isinstance(content, str) else _joined(items(content))


def _joined(content_blocks: list[dict[str, Any]]) -> str:
    return "\n".join(
        block_text
        for each in content_blocks
        if isinstance(block_text := each.get("text", each.get("thinking")), str)
    )
