"""The responses in a Claude Code transcript, as calls of models."""

from __future__ import annotations

import msgspec

from watchgate.agents.usage.claude_lines import Block, Iteration, Usage
from watchgate.agents.usage.typed_lines import moment_us
from watchgate.core.ledger.call import UsageCall

Key = tuple[str, str, bool]
"""The id of a response, its request, and whether a sub-agent's record tells it."""

TIERS = ("priority", "batch", "flex")
BESIDE = ("advisor_message", "compaction")
"""Samplings that the figures of the response leave out; an adviser is another model."""


class Draft(msgspec.Struct, gc=False):
    """A response as told so far: one line for each of its blocks.

    The figures and the model are those of the line with the largest output, because older versions
    wrote them while the response grew; everything else is that of the first line.
    """

    usage: Usage
    model: str
    timestamp: str
    session: str
    sub: str
    turn: str
    stopped: bool
    content: list[Block]


def tools_of(content: list[Block]) -> tuple[str, ...]:
    """Returns the ids of the tool calls among blocks, each once."""
    ids = [block.id for block in content if block.type == "tool_use" and block.id]
    return tuple(dict.fromkeys(ids)) if ids else ()


def call_of(key: Key, draft: Draft) -> UsageCall | None:
    """Returns the call that a response is; None if nothing was used.

    No line with a reason to stop: versions around 2.1.29 to 2.1.5x wrote only how the stream
    began, so the response used at least that.
    """
    usage = draft.usage
    output = usage.output_tokens or 0
    if not output and not usage.read() and not _searches(usage):
        return None
    details = usage.output_tokens_details
    iterations = usage.iterations
    five_minutes, hour = usage.writes()
    return UsageCall(
        key[0],
        moment_us(draft.timestamp),
        draft.session,
        draft.model,
        usage.input_tokens or 0,
        output,
        usage.cache_read_input_tokens or 0,
        five_minutes,
        hour,
        min(output, details.thinking_tokens or 0) if details is not None else 0,
        _searches(usage) if usage.server_tool_use is not None else 0,
        key[1],
        key[2],
        draft.sub,
        _context(usage),
        "",
        None,
        not draft.stopped
        or (iterations is not None and len(iterations) > 1 and not _explained(usage, iterations)),
        draft.turn,
        tools_of(draft.content),
    )


def calls_beside(key: Key, draft: Draft) -> list[UsageCall]:
    """Returns the calls that were made for a response and that its own figures leave out."""
    return [
        _extra_call((f"{key[0]}/{number}", key[1], key[2]), draft, each)
        for number, each in enumerate(draft.usage.iterations or ())
        if each.type in BESIDE and (each.output_tokens or each.read())
    ]


def _explained(usage: Usage, iterations: list[Iteration]) -> bool:
    """Returns whether the figures of the response are those of its iterations."""
    if any(each.type != "message" and each.type not in BESIDE for each in iterations):
        return False
    own = [each for each in iterations if each.type == "message"]
    read, written = sum(each.read() for each in own), sum(each.output_tokens or 0 for each in own)
    return read == usage.read() and written == (usage.output_tokens or 0)


def _searches(usage: Usage) -> int:
    tools = usage.server_tool_use
    return tools.web_search_requests or 0 if tools is not None else 0


def _context(usage: Usage) -> str:
    tier = usage.service_tier
    if tier not in TIERS and usage.speed != "fast" and usage.inference_geo != "us":
        return ""
    words = ["fast"] if usage.speed == "fast" else []
    if tier in TIERS:
        words.append(str(tier))
    if usage.inference_geo == "us":
        words.append("us")
    return " ".join(words)


def _extra_call(key: Key, draft: Draft, iteration: Iteration) -> UsageCall:
    five_minutes, hour = iteration.writes()
    return UsageCall(
        id=key[0],
        at_us=moment_us(draft.timestamp),
        session=draft.session,
        model=iteration.model or draft.model,
        input=iteration.input_tokens or 0,
        output=iteration.output_tokens or 0,
        cache_read=iteration.cache_read_input_tokens or 0,
        cache_5m=five_minutes,
        cache_1h=hour,
        request=key[1],
        side=key[2],
        sub=draft.sub,
        is_lower_bound=not draft.stopped,
        turn=draft.turn,
    )


def merged(before: UsageCall, now: UsageCall) -> UsageCall:
    """Returns a call with what later lines say of it, by the rules of a draft."""
    best = now if now.output > before.output else before
    new = tuple(tool for tool in now.tools if tool not in before.tools)
    return msgspec.structs.replace(
        best,
        at_us=before.at_us,
        session=before.session,
        model=best.model or before.model,
        sub=before.sub,
        turn=before.turn,
        is_lower_bound=before.is_lower_bound and now.is_lower_bound,
        tools=before.tools + new,
    )
