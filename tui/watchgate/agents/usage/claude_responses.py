"""The lines of a Claude Code transcript, as far as usage is concerned.

Source: Claude Code 2.1, `projects/*/*.jsonl`; the usage object is that of the Anthropic Messages
API, https://docs.claude.com/en/api/messages.

- The responses in a Claude Code transcript, as calls of models.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.usage.reader_base import Count, Unusable, moment_us, text_of, typed_lines
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import UsageCall


class ContentBlock(msgspec.Struct, gc=False):
    """A block of a message; the id is that of a tool call."""

    type: str | None = None
    id: str | None = None


class CacheWrites(msgspec.Struct, gc=False):
    """Tokens that were written into the caches, by how long they are kept."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class OutputDetails(msgspec.Struct, gc=False):
    """Parts of the output."""

    thinking_tokens: Count | None = None


class ServerTools(msgspec.Struct, gc=False):
    """Uses of tools on the model's server."""

    web_search_requests: Count | None = None


class ResponseTokens(msgspec.Struct, gc=False):
    """The tokens of a response, or of one iteration of it."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_creation: CacheWrites | None = None

    def writes(self) -> tuple[int, int]:
        """Returns the tokens that caches of five minutes and of an hour took.

        Until 2.1.152 the flat figure could be 0 beside a right breakdown, and before there was a
        breakdown all writes were for five minutes.
        """
        flat = self.cache_creation_input_tokens or 0
        parts = self.cache_creation
        if parts is None:
            return flat, 0
        hour = parts.ephemeral_1h_input_tokens or 0
        return max(flat - hour, parts.ephemeral_5m_input_tokens or 0), hour

    def read(self) -> int:
        """Returns all tokens that the model read."""
        return (self.input_tokens or 0) + (self.cache_read_input_tokens or 0) + sum(self.writes())


class Iteration(ResponseTokens, gc=False):
    """One sampling of a response: of the model itself, of its adviser, or a compaction."""

    type: str | None = None
    model: str | None = None


class ResponseUsage(ResponseTokens, gc=False):
    """The usage of a response."""

    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerTools | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None


class ResponseMessage(msgspec.Struct, gc=False):
    """A message; only responses of a model have usage."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    content: list[ContentBlock] | str | None = None
    usage: ResponseUsage | None = None


class TranscriptLine(msgspec.Struct, gc=False, rename="camel"):
    """One line of a transcript."""

    type: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    request_id: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    message: ResponseMessage | None = None


_DECODER = decoding.decoder(TranscriptLine)


def transcript_lines(chunk: bytes | memoryview) -> tuple[list[TranscriptLine], int]:
    """Returns the lines of a chunk, and how many of them could not be read."""
    return typed_lines(_DECODER, chunk, _loose)


def _loose(fields: Any) -> TranscriptLine | None:
    """Returns a line with fields of other types: those that matter, and the usage as it must be."""
    if not isinstance(fields, dict) or fields.get("type") not in ("assistant", "user"):
        return None
    content = fields.get("message")
    message = None
    if isinstance(content, dict):
        message = ResponseMessage(
            id=text_of(content.get("id")),
            model=text_of(content.get("model")),
            stop_reason=text_of(content.get("stop_reason")) or None,
            content=_content(content.get("content")),
            usage=_usage(content.get("usage")) if fields["type"] == "assistant" else None,
        )
    return TranscriptLine(
        type=fields["type"],
        session_id=text_of(fields.get("sessionId")),
        uuid=text_of(fields.get("uuid")),
        timestamp=text_of(fields.get("timestamp")),
        cwd=text_of(fields.get("cwd")),
        request_id=text_of(fields.get("requestId")),
        prompt_id=text_of(fields.get("promptId")),
        agent_id=text_of(fields.get("agentId")),
        is_sidechain=fields.get("isSidechain") is True,
        is_meta=fields.get("isMeta") is True,
        message=message,
    )


_WORDS = ("service_tier", "speed", "inference_geo")


def _usage(fields: Any) -> ResponseUsage | None:
    if fields is None:
        return None
    if isinstance(fields, dict):
        fields = {**fields, **{word: text_of(fields.get(word)) for word in _WORDS}}
    try:
        return decoding.convert(fields, ResponseUsage)
    except msgspec.ValidationError as fault:
        raise Unusable(str(fault)) from fault


def _content(content: Any) -> list[ContentBlock] | str | None:
    """Returns the blocks, or an empty text where the content is a text."""
    if not isinstance(content, list):
        return "" if isinstance(content, str) else None
    blocks = [block for block in content if isinstance(block, dict)]
    return [ContentBlock(text_of(block.get("type")), text_of(block.get("id"))) for block in blocks]


Key = tuple[str, str, bool]
"""The id of a response, its request, and whether a sub-agent's record tells it."""

TIERS = ("priority", "batch", "flex")
EXTRA_SAMPLINGS = ("advisor_message", "compaction")
"""Samplings that the figures of the response leave out; an adviser is another model."""


class PartialResponse(msgspec.Struct, gc=False):
    """A response as told so far: one line for each of its blocks.

    The figures and the model are those of the line with the largest output, because older versions
    wrote them while the response grew; everything else is that of the first line.
    """

    usage: ResponseUsage
    model: str
    timestamp: str
    session: str
    sub: str
    turn: str
    stopped: bool
    content: list[ContentBlock]


def tools_of(content: list[ContentBlock]) -> tuple[str, ...]:
    """Returns the ids of the tool calls among blocks, each once."""
    ids = [block.id for block in content if block.type == "tool_use" and block.id]
    return tuple(dict.fromkeys(ids)) if ids else ()


def call_of(key: Key, draft: PartialResponse) -> UsageCall | None:
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


def extra_calls(key: Key, draft: PartialResponse) -> list[UsageCall]:
    """Returns the calls that were made for a response and that its own figures leave out."""
    return [
        _extra_call((f"{key[0]}/{number}", key[1], key[2]), draft, each)
        for number, each in enumerate(draft.usage.iterations or ())
        if each.type in EXTRA_SAMPLINGS and (each.output_tokens or each.read())
    ]


def _explained(usage: ResponseUsage, iterations: list[Iteration]) -> bool:
    """Returns whether the figures of the response are those of its iterations."""
    if any(each.type != "message" and each.type not in EXTRA_SAMPLINGS for each in iterations):
        return False
    own = [each for each in iterations if each.type == "message"]
    read, written = sum(each.read() for each in own), sum(each.output_tokens or 0 for each in own)
    return read == usage.read() and written == (usage.output_tokens or 0)


def _searches(usage: ResponseUsage) -> int:
    tools = usage.server_tool_use
    return tools.web_search_requests or 0 if tools is not None else 0


def _context(usage: ResponseUsage) -> str:
    tier = usage.service_tier
    if tier not in TIERS and usage.speed != "fast" and usage.inference_geo != "us":
        return ""
    words = ["fast"] if usage.speed == "fast" else []
    if tier in TIERS:
        words.append(str(tier))
    if usage.inference_geo == "us":
        words.append("us")
    return " ".join(words)


def _extra_call(key: Key, draft: PartialResponse, iteration: Iteration) -> UsageCall:
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
