"""The kind and body of each hook and each bus event of OpenCode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.hooks.event_bodies import text
from watchgate.agents.opencode import opencode_payload
from watchgate.agents.opencode.opencode_payload import Fields, Payload, mapping, string
from watchgate.core.model.events import Body, Kind, SessionChange, Text, ToolCall, ToolResult, Usage

Meaning = tuple[Kind, Body]
Builder = Callable[[Payload], Meaning]

BEFORE: Final = "tool.execute.before"
ASKED: Final = "permission.asked"
QUESTION: Final = "question.asked"

_REPLIES = ("once", "always", "reject")
_REJECTED = "The user rejected permission"
_FORBIDDEN = "The user has specified a rule which prevents"
_REFUSALS = (_REJECTED, _FORBIDDEN)
"""Beginnings of OpenCode's own refusals: such a call failed without ever running."""


def meaning(payload: Payload) -> Meaning:
    """Returns the kind and body of a payload; one that nobody described is a notice."""
    return EVENTS.get(payload.name, _notice)(payload)


def _before(payload: Payload) -> Meaning:
    sent, args = payload.input, mapping(payload.output.get("args"))
    return "tool.pre", ToolCall(
        opencode_payload.describe_call(string(sent, "tool"), args, string(sent, "callID"))
    )


def _after(payload: Payload) -> Meaning:
    sent, result = payload.input, payload.output
    called = opencode_payload.describe_call(
        string(sent, "tool"), mapping(sent.get("args")), string(sent, "callID")
    )
    exit_code = _exit(result)
    return "tool.post", ToolResult(
        called,
        ok=exit_code in (None, 0),
        text=text(result.get("output")),
        took_ms=payload.known.took_ms,
        exit_code=exit_code,
    )


def _chat(payload: Payload) -> Meaning:
    parts = payload.output.get("parts")
    words = [string(mapping(each), "text") for each in parts] if isinstance(parts, list) else []
    return _prompt(payload, "\n".join(filter(None, words)))


def _prompt(payload: Payload, words: str) -> Meaning:
    """Reads a prompt; a sub-agent's was written by the agent above it, not by a person."""
    return "message" if payload.sub else "prompt.submit", Text(text(words))


def _created(payload: Payload) -> Meaning:
    info = payload.info
    change = SessionChange(
        what="created",
        detail=string(info, "title"),
        model=string(mapping(info.get("model")), "id") or None,
    )
    return "agent.start" if payload.sub else "session.start", change


def _updated(payload: Payload) -> Meaning:
    """Reads a session's cost, which includes its sub-agents' only where a forwarder added it.

    OpenCode writes 0 also where it knows no price, and under a subscription.
    """
    cost = payload.known.cost_usd
    if cost is None and not payload.sub:
        cost = _number(payload.info.get("cost"))
    return "usage", Usage(
        total_cost_usd=cost or None, model=string(mapping(payload.info.get("model")), "id") or None
    )


def _over(kind: Kind, what: str) -> Builder:
    def build(payload: Payload) -> Meaning:
        return "agent.stop" if payload.sub else kind, SessionChange(what=what)

    return build


def _error(payload: Payload) -> Meaning:
    error = mapping(payload.properties.get("error"))
    name = string(error, "name")
    error_text = Text(text(string(mapping(error.get("data")), "message") or name))
    return "turn.interrupt" if name == "MessageAbortedError" else "turn.error", error_text


def _message(payload: Payload) -> Meaning:
    info = payload.info
    if string(info, "role") == "user":
        return _prompt(payload, payload.known.text)
    if "completed" not in mapping(info.get("time")):
        return "model.request", Text(string(info, "modelID"))
    return "usage", _usage(info)


def _part(payload: Payload) -> Meaning:
    part = payload.part
    match string(part, "type"):
        case "tool":
            return _tool_part(payload)
        case "step-finish":
            return "usage", _usage(part)
        case "text":
            return "message", Text(text(string(part, "text")))
        case "step-start":
            return "model.request", Text("")
        case _:
            return _notice(payload)


def _tool_part(payload: Payload) -> Meaning:
    part, state = payload.part, mapping(payload.part.get("state"))
    args = mapping(state.get("input"))
    called = opencode_payload.describe_call(string(part, "tool"), args, string(part, "callID"))
    status, metadata = string(state, "status"), mapping(state.get("metadata"))
    if status == "completed":
        exit_code = _exit(state)
        return "tool.post", ToolResult(
            called,
            ok=exit_code in (None, 0),
            text=text(state.get("output")),
            took_ms=_took_ms(state),
            exit_code=exit_code,
        )
    if status != "error":
        return "tool.pre", ToolCall(called)
    why = text(state.get("error"))
    if payload.known.refused or why.startswith(_REFUSALS):
        return "tool.permission.resolved", ToolCall(called, why=_why_refused(payload, why))
    return "tool.error", ToolResult(
        called,
        ok=False,
        text=why,
        took_ms=_took_ms(state),
        interrupted=metadata.get("interrupted") is True,
    )


def _asked(payload: Payload) -> Meaning:
    return "tool.permission", ToolCall(opencode_payload.asked_call(payload))


def _replied(payload: Payload) -> Meaning:
    """Reads a reply: a refusal ends the call that it is about, any other lets it go on."""
    reply = string(payload.properties, "reply")
    called = opencode_payload.resolved_call(payload.known)
    if reply in _REPLIES and called is not None:
        allowed = reply != "reject"
        why = "" if allowed else _why_refused(payload, _REJECTED)
        return "tool.permission.resolved", ToolCall(called, allowed=allowed, why=why)
    return "notice", Text(f"permission: {reply}")


def _why_refused(payload: Payload, refusal: str) -> str:
    """Returns the words for a refusal of OpenCode's own; its model reads `refusal`."""
    if refusal.startswith(_FORBIDDEN):
        return "a rule of its own forbids it"
    if payload.known.headless:
        return "it asks nobody when headless"
    return "in its own dialog"


def _question(payload: Payload) -> Meaning:
    called, asks = opencode_payload.question_call(payload)
    return "question", ToolCall(called, asks)


def _answered(payload: Payload) -> Meaning:
    answers = payload.properties.get("answers")
    return "notice", Text(f"question: {text(answers) if answers else 'rejected'}")


def _delta(payload: Payload) -> Meaning:
    return "message", Text(text(string(payload.properties, "delta")))


def _notice(payload: Payload) -> Meaning:
    sent = payload.properties or {"input": payload.input, "output": payload.output}
    own = {key: value for key, value in sent.items() if key != "sessionID" and value}
    return "notice", Text(text(own) if own else "")


def _usage(fields: Fields) -> Usage:
    """Reads usage: OpenCode counts input without cached tokens, and cost by message."""
    tokens = mapping(fields.get("tokens"))
    cache = mapping(tokens.get("cache"))
    read, write = _count(cache.get("read")), _count(cache.get("write"))
    given, output = _count(tokens.get("input")), _count(tokens.get("output"))
    reasoning = _count(tokens.get("reasoning"))
    total = _count(tokens.get("total"))
    if reasoning and total != sum(each or 0 for each in (given, output, read, write)):
        # Versions whose total is without it count it in the output already.
        output = (output or 0) + reasoning
    return Usage(
        input=given,
        output=output,
        cache_read=read,
        cache_write=write,
        model=string(fields, "modelID") or None,
        ref=string(fields, "messageID") or string(fields, "id"),
        reasoning=reasoning,
    )


def _exit(fields: Fields) -> int | None:
    return _count(mapping(fields.get("metadata")).get("exit"))


def _took_ms(state: Fields) -> int | None:
    time = mapping(state.get("time"))
    start, end = _number(time.get("start")), _number(time.get("end"))
    return None if start is None or end is None else round(end - start)


def _count(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else round(number)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


EVENTS: Final[dict[str, Builder]] = {
    BEFORE: _before,
    "tool.execute.after": _after,
    "chat.message": _chat,
    "session.created": _created,
    "session.updated": _updated,
    "session.deleted": _over("session.end", "deleted"),
    "session.idle": _over("turn.end", "idle"),
    "session.error": _error,
    "session.compacted": lambda _payload: ("compact.post", SessionChange(what="compacted")),
    "message.updated": _message,
    "message.part.updated": _part,
    "message.part.delta": _delta,
    ASKED: _asked,
    "permission.replied": _replied,
    QUESTION: _question,
    "question.replied": _answered,
    "question.rejected": _answered,
}
"""Files, language servers, todo lists and all later events become notices."""
