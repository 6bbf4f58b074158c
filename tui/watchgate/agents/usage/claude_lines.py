"""The lines of a Claude Code transcript, as far as usage is concerned.

Source: Claude Code 2.1, `projects/*/*.jsonl`; the usage object is that of the Anthropic Messages
API, https://docs.claude.com/en/api/messages.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.usage.typed_lines import Count, Unusable, text_of, typed_lines
from watchgate.core import decoding


class Block(msgspec.Struct, gc=False):
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


class Tokens(msgspec.Struct, gc=False):
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


class Iteration(Tokens, gc=False):
    """One sampling of a response: of the model itself, of its adviser, or a compaction."""

    type: str | None = None
    model: str | None = None


class Usage(Tokens, gc=False):
    """The usage of a response."""

    output_tokens_details: OutputDetails | None = None
    server_tool_use: ServerTools | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None


class Message(msgspec.Struct, gc=False):
    """A message; only responses of a model have usage."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    content: list[Block] | str | None = None
    usage: Usage | None = None


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
    message: Message | None = None


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
        message = Message(
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


def _usage(fields: Any) -> Usage | None:
    if fields is None:
        return None
    if isinstance(fields, dict):
        fields = {**fields, **{word: text_of(fields.get(word)) for word in _WORDS}}
    try:
        return decoding.convert(fields, Usage)
    except msgspec.ValidationError as fault:
        raise Unusable(str(fault)) from fault


def _content(content: Any) -> list[Block] | str | None:
    """Returns the blocks, or an empty text where the content is a text."""
    if not isinstance(content, list):
        return "" if isinstance(content, str) else None
    blocks = [block for block in content if isinstance(block, dict)]
    return [Block(text_of(block.get("type")), text_of(block.get("id"))) for block in blocks]
