"""Usage in a rollout of Codex CLI: one call for each time that its totals changed.

A rollout has no ids of calls, and one that was forked or spawned from another begins with a copy of
what that one had counted so far, with new times. The id of a call is therefore a digest of all
figures up to it: the same beginning gives the same ids.

The lines of a Codex rollout that matter for usage, and the rate limits in them.

Source: Codex CLI 0.34 to 0.153, `sessions/**/rollout-*.jsonl`: `{timestamp, type, payload}`, where
the payload of an `event_msg` of type `token_count` holds usage. Lines of before have no payload,
and tell no usage. `cache_write_input_tokens` is there since 0.145.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    Count,
    Unusable,
    moment_us,
    pieces,
    text_of,
    typed_lines,
)
from watchgate.core.base import decoding
from watchgate.core.model.usage_records import Limit
from watchgate.core.usage.usage_calls import UsageCall

TOOL_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


class TokenAmount(msgspec.Struct, gc=False):
    """Tokens; the input includes what was cached, the output includes the reasoning."""

    input_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_output_tokens: Count | None = None
    total_tokens: Count | None = None


class TokenCountInfo(msgspec.Struct, gc=False):
    """The usage of the thread in all, and of its newest call."""

    total_token_usage: TokenAmount | None = None
    last_token_usage: TokenAmount | None = None
    model_context_window: Count | None = None


class LimitWindow(msgspec.Struct, gc=False):
    """A window of a rate limit; none of these fields is worth losing a line for."""

    used_percent: Any = None
    window_minutes: Any = None
    resets_at: Any = None
    resets_in_seconds: Any = None


class RateLimits(msgspec.Struct, gc=False):
    """The limits of the account, or of one model."""

    limit_id: Any = None
    limit_name: Any = None
    primary: LimitWindow | None = None
    secondary: LimitWindow | None = None


class RolloutPayload(msgspec.Struct, gc=False):
    """The payload of a line: fields of all kinds of lines that matter, each in its own lines."""

    type: str | None = None
    info: TokenCountInfo | None = None
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
    payload: RolloutPayload | None = None
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
    payload = decoding.convert({name: text_of(body.get(name)) for name in _TEXTS}, RolloutPayload)
    payload.rate_limits = _limits(body.get("rate_limits"))
    payload.source = body.get("source")
    if payload.type == "token_count":
        try:
            payload.info = decoding.convert(body.get("info"), TokenCountInfo | None)
        except msgspec.ValidationError as fault:
            raise Unusable(str(fault)) from fault
    return RolloutLine(text_of(fields.get("type")), text_of(fields.get("timestamp")), payload)


def _limits(fields: Any) -> RateLimits | None:
    try:
        return decoding.convert(fields, RateLimits | None)
    except msgspec.ValidationError:
        return None


MAIN = "codex"
"""The limits of the account; others are those of one model alone."""

US = 1_000_000
DAY_MIN, HOUR_MIN = 1_440, 60
LATEST_S = 2**40


def has_account_windows(limits: RateLimits) -> bool:
    """Returns whether there are windows of the account; older versions gave no id."""
    windows = limits.primary is not None or limits.secondary is not None
    return windows and limits.limit_id in (None, "", MAIN)


def limits_of(limits: RateLimits, at_us: int) -> tuple[Limit, ...]:
    """Returns the windows, the shorter first; `at_us` is when they were written (UTC µs)."""
    windows = [window for window in (limits.primary, limits.secondary) if window is not None]
    current_limits = [limit for window in windows if (limit := _limit(window, at_us)) is not None]
    return tuple(sorted(current_limits, key=lambda limit: limit.window_min))


def _limit(window: LimitWindow, at_us: int) -> Limit | None:
    used, minutes = _number(window.used_percent), _number(window.window_minutes)
    if used is None:
        return None
    resets_at, resets_in = _number(window.resets_at), _number(window.resets_in_seconds)
    if resets_at is not None:
        resets_us = int(resets_at * US)
    else:
        resets_us = at_us + int(resets_in * US) if resets_in is not None and at_us else 0
    window_min = int(minutes or 0)
    return Limit(
        name=_name(window_min), used_percent=used, window_min=window_min, resets_at=resets_us
    )


def _name(window_min: int) -> str:
    """Returns the window's length as people say it; some versions wrote a minute less."""
    for unit_min, unit in ((DAY_MIN, "d"), (HOUR_MIN, "h")):
        for minutes in (window_min, window_min + 1):
            if minutes >= unit_min and minutes % unit_min == 0:
                return f"{minutes // unit_min} {unit}"
    return f"{window_min} min" if window_min else "limit"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LATEST_S else None


UUID_CHARS = 36
ID_BYTES = 12

Vector = tuple[int, int, int, int, int, int]
"""Input, of which cached, of which written into a cache, output, of which reasoning; total."""

NONE: Vector = (0, 0, 0, 0, 0, 0)

_FIGURES = struct.Struct("<12q")


class CodexReader:
    """Reads one rollout."""

    def __init__(self, path: str) -> None:
        thread = _thread(path)
        self.facts = FileFacts(session=thread, thread=thread)
        self.unreadable = 0
        self._identified = False
        self._new: list[UsageCall] = []
        self._total = NONE
        self._chain = b""
        self._model = self._turn = ""
        self._tools: list[str] = []
        self._limits: tuple[RateLimits, str] | None = None

    def read(self, chunk: bytes) -> None:
        """Takes whole lines in."""
        for piece in pieces(chunk):
            lines, unreadable = rollout_lines(piece)
            self.unreadable += unreadable
            self._read(lines)
        if self._limits is not None:
            limits, timestamp = self._limits
            self._limits = None
            self.facts.limits_at_us = moment_us(timestamp)
            self.facts.limits = limits_of(limits, self.facts.limits_at_us)

    def take(self) -> list[UsageCall]:
        """Returns the calls that are new; none is ever reported anew."""
        new, self._new = self._new, []
        return new

    def _read(self, lines: list[RolloutLine]) -> None:
        for line in lines:
            payload = line.payload
            if payload is None:
                if line.id and not self._identified and line.type is None:
                    self._is(line.id, "", "")
                continue
            kind = payload.type
            if kind == "token_count" and line.type == "event_msg":
                self._counted(line, payload)
            elif payload.call_id and kind in TOOL_CALLS:
                self._tools.append(payload.call_id)
            elif line.type == "turn_context":
                self._model = payload.model or self._model
                self._turn = payload.turn_id or ""
                self.facts.cwd = payload.cwd or self.facts.cwd
            elif line.type == "session_meta" and not self._identified:
                self._identify(payload)

    def _identify(self, payload: RolloutPayload) -> None:
        """Notes the thread from the first meta line; later ones are the parent's, copied."""
        self.facts.cwd = payload.cwd or ""
        spawner = payload.parent_thread_id or _spawner(payload.source)
        source = payload.source
        spawned = payload.thread_source == "subagent" or (
            isinstance(source, dict) and "subagent" in source
        )
        if payload.id:
            parent = payload.forked_from_id or spawner
            self._is(payload.id, parent, (spawner or parent) if spawned else "")

    def _is(self, thread: str, parent: str, spawner: str) -> None:
        self._identified = True
        self.facts.thread, self.facts.parent = thread, parent
        self.facts.session = spawner or thread
        self.facts.sub = thread if spawner else ""

    def _counted(self, line: RolloutLine, payload: RolloutPayload) -> None:
        limits, info = payload.rate_limits, payload.info
        if limits is not None and has_account_windows(limits):
            self._limits = limits, line.timestamp or ""
        if info is None:
            return
        amounts = info.total_token_usage
        if amounts is None:
            self.unreadable += info.last_token_usage is not None
            return
        total = _vector(amounts)
        last = _vector(info.last_token_usage) if info.last_token_usage is not None else NONE
        self._fill(info, last)
        if total == self._total:
            return
        amount = last if last[0] or last[3] else _since(self._total, total)
        self._total = total
        self._call(line, total, last, amount, amounts.cache_write_input_tokens is None)

    def _fill(self, info: TokenCountInfo, last: Vector) -> None:
        if last != NONE:
            self.facts.context_used = last[5] or last[0] + last[3]
        self.facts.context_size = info.model_context_window or self.facts.context_size

    def _call(
        self, line: RolloutLine, total: Vector, last: Vector, amount: Vector, writes_missing: bool
    ) -> None:
        """Adds the call, named by a digest of all figures up to it.

        Args:
            line: the line that reports it.
            total: the thread's totals with it.
            last: its own figures as the line has them.
            amount: its own figures as they are counted.
            writes_missing: whether its version reports no cache writes.
        """
        figures = _FIGURES.pack(*total, *last)
        self._chain = hashlib.blake2b(self._chain + figures, digest_size=ID_BYTES).digest()
        ident = self._chain.hex()
        read, cached, written, output, reasoning, _ = amount
        if not read and not output:
            return  # the total alone changed, as where the context was said to be full
        cached = min(cached, read)
        written = min(written, read - cached)
        self._new.append(
            UsageCall(
                id=ident,
                at_us=moment_us(line.timestamp or ""),
                session=self.facts.session,
                model=self._model,
                input=read - cached - written,
                output=output,
                cache_read=cached,
                cache_5m=written,
                reasoning=min(reasoning, output),
                request=ident,
                sub=self.facts.sub,
                turn=self._turn,
                tools=tuple(self._tools),
                writes_in_input=writes_missing,
            )
        )
        self._tools.clear()


def _vector(amount: TokenAmount) -> Vector:
    return (
        amount.input_tokens or 0,
        amount.cached_input_tokens or 0,
        amount.cache_write_input_tokens or 0,
        amount.output_tokens or 0,
        amount.reasoning_output_tokens or 0,
        amount.total_tokens or 0,
    )


def _since(before: Vector, total: Vector) -> Vector:
    """Returns the tokens used between two totals; where a total fell, counting began anew."""
    if any(now < then for now, then in zip(total, before, strict=True)):
        return total
    a, b, c, d, e, f = (now - then for now, then in zip(total, before, strict=True))
    return a, b, c, d, e, f


def _spawner(source: Any) -> str:
    """Returns the thread that a sub-agent's thread was spawned from."""
    for name in ("subagent", "thread_spawn"):
        source = source.get(name) if isinstance(source, dict) else None
    return text_of(source.get("parent_thread_id")) if isinstance(source, dict) else ""


def _thread(path: str) -> str:
    """Returns the thread in a file's name, `rollout-<time>-<thread>.jsonl`."""
    stem = path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".jsonl")
    return stem[-UUID_CHARS:] if stem.startswith("rollout-") else stem
