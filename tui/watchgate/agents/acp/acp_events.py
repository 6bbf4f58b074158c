"""The kind and body of each message of the Agent Client Protocol.

Wire format: Agent Client Protocol version 1 (JSON-RPC 2.0, one message a line), with elicitation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.acp.acp_tools import texts, tool_of
from watchgate.agents.forms import form
from watchgate.agents.hooks.event_bodies import describe_tool, text
from watchgate.agents.proxied.wrapped import WrappedMessage, count, items, number, table, word
from watchgate.core.model.events import (
    Body,
    Kind,
    SessionChange,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

Meaning = tuple[Kind, Body]
PERMISSION: Final = "session/request_permission"
ELICITATION: Final = "elicitation/create"
UPDATE: Final = "session/update"

_STARTS: Final = {"session/new": "new", "session/load": "loaded", "session/resume": "resumed"}
_CHANGES: Final = {
    "session/set_mode": ("mode", "modeId"),
    "session/set_model": ("model", "modelId"),
    "session/set_config_option": ("option", "configId"),
    f"{UPDATE}:current_mode_update": ("mode", "currentModeId"),
    f"{UPDATE}:config_option_update": ("options", "configOptions"),
    f"{UPDATE}:session_info_update": ("title", "title"),
}
_NOTICES: Final = frozenset(
    """initialize authenticate logout session/new session/load session/resume session/fork
    session/list session/cancel elicitation/complete
    $/cancel_request fs/read_text_file fs/write_text_file terminal/create terminal/output
    terminal/release terminal/wait_for_exit terminal/kill session/update:agent_thought_chunk
    session/update:plan session/update:available_commands_update
    session/update:user_message_chunk""".split()
)
_ENDED: Final = {"completed": True, "failed": False}


def native_of(wrapped: WrappedMessage, given: str = "") -> str:
    """Returns a message's name: its method, an update's kind, or the method it answers."""
    message = wrapped.message
    method = word(message.get("method"))
    if method == UPDATE:
        update = word(_update(message).get("sessionUpdate"))
        return f"{UPDATE}:{update}" if update else UPDATE
    if method:
        return method
    if not (asked := word(wrapped.context.get("method"))):
        return given
    part = "error" if "error" in message else word(wrapped.context.get("part")) or "result"
    return f"{asked} {part}"


def meaning(wrapped: WrappedMessage, native: str) -> Meaning:
    """Returns the kind of a message and its body; what nobody described is kept as unknown."""
    if "unread" in wrapped.message:
        return "unknown", Unknown(word(wrapped.message.get("why")), text(wrapped.message["unread"]))
    method, _, answer = native.partition(" ")
    if answer:
        return _answered(wrapped, method, answer)
    reader = _READERS.get(native)
    if reader is not None:
        return reader(wrapped)
    params = table(wrapped.message.get("params"))
    if native in _CHANGES:
        what, key = _CHANGES[native]
        fields = _update(wrapped.message) if native.startswith(UPDATE) else params
        return "session.change", SessionChange(what, text(fields.get(key)))
    if native in _NOTICES:
        return "notice", Text(text(_update(wrapped.message) or params))
    if native in ("session/close", "session/delete"):
        return "session.end", SessionChange("closed")
    return "unknown", Unknown(f"no ACP message called {native}", text(wrapped.message))


def usage_of(result: dict[str, Any]) -> Usage | None:
    """Returns the tokens that a prompt's result tells of, in the three ways in which agents do."""
    meta = table(result.get("_meta"))
    quota = table(meta.get("quota"))
    models = items(quota.get("model_usage"))
    model = word(models[0].get("model")) if len(models) == 1 else ""
    for counts, counted_model in (
        (table(result.get("usage")), ""),
        (table(meta.get("usage")), ""),
        (table(quota.get("token_count")), model),
    ):
        if counts:
            return _tokens(counts, counted_model)
    return None


def _tokens(counts: dict[str, Any], model: str) -> Usage:
    """Reads token counts, which agents may overlap though the protocol says that they do not.

    `totalTokens`, the sum of all of them, shows which are parts of others.
    """
    given = count(counts.get("inputTokens", counts.get("input_tokens")))
    output = count(counts.get("outputTokens", counts.get("output_tokens")))
    read, write = count(counts.get("cachedReadTokens")), count(counts.get("cachedWriteTokens"))
    thoughts, total = count(counts.get("thoughtTokens")), count(counts.get("totalTokens"))
    cached, plain = (read or 0) + (write or 0), (given or 0) + (output or 0)
    thought_within = bool(thoughts) and total in (plain, plain + cached)
    if thoughts and not thought_within:
        output = (output or 0) + thoughts
    return Usage(
        input=given,
        output=output,
        cache_read=read,
        cache_write=write,
        model=model or None,
        cached_within=cached > 0 and total == (given or 0) + (output or 0),
        reasoning=thoughts,
    )


def call_of(wrapped: WrappedMessage) -> dict[str, Any]:
    """Returns all that was said of the call that a message is about: before, and now."""
    message = wrapped.message
    latest = _update(message) or table(table(message.get("params")).get("toolCall"))
    return table(wrapped.context.get("call")) or latest


def _answered(wrapped: WrappedMessage, method: str, answer: str) -> Meaning:
    if answer == "error":
        fault = text(table(wrapped.message.get("error")).get("message"))
        return ("turn.error" if method == "session/prompt" else "notice"), Text(fault)
    result = table(wrapped.message.get("result"))
    if answer == "usage":
        return "usage", usage_of(result) or Usage()
    if method == "session/prompt":
        why = word(result.get("stopReason"))
        return ("turn.interrupt" if why == "cancelled" else "turn.end"), Text(why)
    if method in _STARTS:
        model = word(table(result.get("models")).get("currentModelId")) or None
        return "session.start", SessionChange(_STARTS[method], wrapped.agent, model=model)
    return "notice", Text(text(result))


def _prompt(wrapped: WrappedMessage) -> Meaning:
    return "prompt.submit", Text(text(texts(table(wrapped.message.get("params")).get("prompt"))))


def _permission(wrapped: WrappedMessage) -> Meaning:
    tool = tool_of(call_of(wrapped), wrapped.cwd)
    return ("question" if tool.cls == "plan" else "tool.permission"), ToolCall(tool)


def _elicitation(wrapped: WrappedMessage) -> Meaning:
    params = table(wrapped.message.get("params"))
    asked: dict[str, Any] = {
        key: params[key] for key in ("message", "requestedSchema", "url") if key in params
    }
    tool = describe_tool(ELICITATION, asked, None, {ELICITATION: "question"})
    return "question", ToolCall(tool, form(params.get("requestedSchema")))


def _call(wrapped: WrappedMessage) -> Meaning:
    call = call_of(wrapped)
    tool = tool_of(call, wrapped.cwd)
    ok = _ENDED.get(word(call.get("status")))
    if ok is None:
        if wrapped.context.get("known") is True:
            return "notice", Text(text(_update(wrapped.message)))
        return "tool.pre", ToolCall(tool)
    if not ok and wrapped.context.get("denied") is True:
        return "tool.permission.resolved", ToolCall(tool)
    code = _exit_code(call.get("rawOutput"))
    result_text = text(texts(call.get("content")) or call.get("rawOutput"))
    return "tool.post" if ok else "tool.error", ToolResult(
        tool, ok, text=result_text, exit_code=code
    )


def _message(wrapped: WrappedMessage) -> Meaning:
    update = _update(wrapped.message)
    message_text = texts([update.get("content")])
    if not message_text and (used := usage_of(update)) is not None:
        return "usage", used
    return "message", Text(text(message_text))


def _used(wrapped: WrappedMessage) -> Meaning:
    cost = table(_update(wrapped.message).get("cost"))
    amount = cost.get("amount") if cost.get("currency") == "USD" else None
    return "usage", Usage(
        total_cost_usd=number(amount),
        context_used=count(_update(wrapped.message).get("used")),
        context_size=count(_update(wrapped.message).get("size")),
    )


_READERS: Final[dict[str, Callable[[WrappedMessage], Meaning]]] = {
    PERMISSION: _permission,
    ELICITATION: _elicitation,
    "session/prompt": _prompt,
    f"{UPDATE}:tool_call": _call,
    f"{UPDATE}:tool_call_update": _call,
    f"{UPDATE}:agent_message_chunk": _message,
    f"{UPDATE}:usage_update": _used,
}
SENT: Final = frozenset(
    """session.start session.end session.change prompt.submit turn.end turn.error turn.interrupt
    tool.pre tool.permission tool.permission.resolved tool.post tool.error message usage notice
    question unknown""".split()
)


def _update(message: dict[str, Any]) -> dict[str, Any]:
    return table(table(message.get("params")).get("update"))


def _exit_code(output: Any) -> int | None:
    """Returns a shell's exit code, where the agent's own output tells it."""
    fields = table(output)
    metadata = table(fields.get("metadata"))
    nested = items(fields.get("contents"))
    for each in (fields, metadata, *nested):
        for key in ("exitCode", "exit_code", "exit"):
            if type(each.get(key)) is int:
                return int(each[key])
    return None
