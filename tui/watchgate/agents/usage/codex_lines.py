"""The lines of a Codex rollout that matter for usage, and the rate limits in them.

Source: Codex CLI 0.34 to 0.153, `sessions/**/rollout-*.jsonl`: `{timestamp, type, payload}`, where
the payload of an `event_msg` of type `token_count` holds usage. Lines of before have no payload,
and tell no usage. `cache_write_input_tokens` is there since 0.145.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.usage.typed_lines import Count, Unusable, text_of, typed_lines
from watchgate.core import decoding

TOOL_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


class Amount(msgspec.Struct, gc=False):
    """Tokens; the input includes what was cached, the output includes the reasoning."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class Info(msgspec.Struct, gc=False):
    """The usage of the thread in all, and of its newest call."""

    total_token_usage: Amount | None = None
    last_token_usage: Amount | None = None
    model_context_window: Count | None = None


class Window(msgspec.Struct, gc=False):
    """A window of a rate limit; none of these fields is worth losing a line for."""

    used_percent: Any = None
    window_minutes: Any = None
    resets_at: Any = None
    resets_in_seconds: Any = None


class RateLimits(msgspec.Struct, gc=False):
    """The limits of the account, or of one model."""

    limit_id: Any = None
    limit_name: Any = None
    primary: Window | None = None
    secondary: Window | None = None


class Payload(msgspec.Struct, gc=False):
    """The payload of a line: fields of all kinds of lines that matter, each in its own lines."""

    type: str | None = None
    info: Info | None = None
    rate_limits: RateLimits | None = None
    call_id: str | None = None
    id: str | None = None
    cwd: str | None = None
    model: str | None = None
    turn_id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    thread_source: str | None = None
    source: Any = None


class RolloutLine(msgspec.Struct, gc=False):
    """One line; `id` is that of the thread, in the first line of a rollout without payloads."""

    type: str | None = None
    timestamp: str | None = None
    payload: Payload | None = None
    id: str | None = None


_DECODER = decoding.decoder(RolloutLine)


def rollout_lines(chunk: bytes | memoryview) -> tuple[list[RolloutLine], int]:
    """Returns the lines of a chunk, and how many of them could not be read."""
    return typed_lines(_DECODER, chunk, _loose)


_IDS = ("call_id", "id", "turn_id", "forked_from_id", "parent_thread_id")
_TEXTS = ("type", "cwd", "model", "thread_source", *_IDS)


def _loose(fields: Any) -> RolloutLine | None:
    """Returns a line with fields of other types: those that matter, and the usage as it must be."""
    body = fields.get("payload") if isinstance(fields, dict) else None
    if not isinstance(body, dict):
        return None
    payload = decoding.convert({name: text_of(body.get(name)) for name in _TEXTS}, Payload)
    payload.rate_limits = _limits(body.get("rate_limits"))
    payload.source = body.get("source")
    if payload.type == "token_count":
        try:
            payload.info = decoding.convert(body.get("info"), Info | None)
        except msgspec.ValidationError as fault:
            raise Unusable(str(fault)) from fault
    return RolloutLine(text_of(fields.get("type")), text_of(fields.get("timestamp")), payload)


def _limits(fields: Any) -> RateLimits | None:
    try:
        return decoding.convert(fields, RateLimits | None)
    except msgspec.ValidationError:
        return None
