"""Usage in a rollout of Codex CLI: one call for each time that its totals changed.

A rollout has no ids of calls, and one that was forked or spawned from another begins with a copy of
what that one had counted so far, with new times. The id of a call is therefore a digest of all
figures up to it: the same beginning gives the same ids.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from watchgate.agents.usage.base import FileFacts
from watchgate.agents.usage.codex_limits import is_told, limits_of
from watchgate.agents.usage.codex_lines import (
    TOOL_CALLS,
    Amount,
    Info,
    Payload,
    RateLimits,
    RolloutLine,
    rollout_lines,
)
from watchgate.agents.usage.typed_lines import moment_us, pieces, text_of
from watchgate.core.ledger.call import UsageCall

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

    def _identify(self, payload: Payload) -> None:
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

    def _counted(self, line: RolloutLine, payload: Payload) -> None:
        limits, info = payload.rate_limits, payload.info
        if limits is not None and is_told(limits):
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

    def _fill(self, info: Info, last: Vector) -> None:
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
                writes_untold=writes_missing,
            )
        )
        self._tools.clear()


def _vector(amount: Amount) -> Vector:
    return (
        amount.input_tokens or 0,
        amount.cached_input_tokens or 0,
        amount.cache_write_input_tokens or 0,
        amount.output_tokens or 0,
        amount.reasoning_output_tokens or 0,
        amount.total_tokens or 0,
    )


def _since(before: Vector, total: Vector) -> Vector:
    """Returns what was used between two totals; where a total fell, counting began anew."""
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
