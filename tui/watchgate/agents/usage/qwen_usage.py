"""Qwen Code's recorded chats: what each answer of the model used.

Wire format: `chats/<session>.jsonl` of Qwen Code 0.24 and its sub-agents' files of the same shape,
`subagents/<session>/agent-<id>.jsonl`. A branched session holds its parent's records once more,
under the same uuid, with `forkedFrom`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    CallBuffer,
    Count,
    ItemId,
    Unusable,
    moment_us,
    parts_of,
    picked,
    unique,
)
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import UsageCall


class _QwenUsage(msgspec.Struct, gc=False):
    """Counts: `prompt` includes cached ones; only `total` shows if `output` includes `thoughts`."""

    prompt: Count | None = msgspec.field(default=None, name="promptTokenCount")
    output: Count | None = msgspec.field(default=None, name="candidatesTokenCount")
    thoughts: Count | None = msgspec.field(default=None, name="thoughtsTokenCount")
    cached: Count | None = msgspec.field(default=None, name="cachedContentTokenCount")
    tool: Count | None = msgspec.field(default=None, name="toolUsePromptTokenCount")
    total: Count | None = msgspec.field(default=None, name="totalTokenCount")

    @property
    def written(self) -> int:
        """All that was written: OpenAI's interface counts thoughts in the answer, Gemini's not."""
        output, thoughts = self.output or 0, self.thoughts or 0
        read = (self.prompt or 0) + (self.tool or 0)
        within = thoughts <= output and self.total == read + output
        return output if within else output + thoughts


class _Part(msgspec.Struct):
    function: ItemId | None = msgspec.field(default=None, name="functionCall")


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _QwenRecord(msgspec.Struct):
    uuid: str | None = None
    type: str | None = None
    timestamp: str | None = None
    session: str | None = msgspec.field(default=None, name="sessionId")
    cwd: str | None = None
    model: str | None = None
    usage: _QwenUsage | None = msgspec.field(default=None, name="usageMetadata")
    window: Count | None = msgspec.field(default=None, name="contextWindowSize")
    agent: str | None = msgspec.field(default=None, name="agentId")
    side: bool | None = msgspec.field(default=None, name="isSidechain")
    forked: dict[str, Any] | None = msgspec.field(default=None, name="forkedFrom")
    prompt: str | None = msgspec.field(default=None, name="promptId")
    message: _Content | None = None


_RECORDS = decoding.decoder(_QwenRecord)
_NEEDED = ("uuid", "type", "timestamp", "sessionId", "model", "usageMetadata", "agentId")


class QwenReader(CallBuffer):
    """Reads one chat of a session or of a sub-agent."""

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        sub = stem.removeprefix("agent-") if folders[-2:-1] == ["subagents"] else ""
        super().__init__(FileFacts(session=folders[-1] if sub else stem, sub=sub))
        self._at_us = 0
        self._turn = ""

    def read(self, chunk: bytes) -> None:
        """Takes some whole lines in."""
        for record in self.typed(_RECORDS, chunk, _loose):
            self._record(record)

    def _record(self, record: _QwenRecord) -> None:
        self._at_us = moment_us(record.timestamp or "") or self._at_us
        self.facts.session = record.session or self.facts.session
        self.facts.cwd = self.facts.cwd or record.cwd or ""
        if record.type == "user" and record.uuid:
            self._turn = record.prompt or record.uuid
        if record.usage is None or record.type != "assistant":
            return
        call = self._call(record, record.usage)
        if self.tell_used(call) and not call.sub and record.forked is None:
            self.facts.context_used = call.tokens
            self.facts.context_size = record.window or self.facts.context_size

    def _call(self, record: _QwenRecord, usage: _QwenUsage) -> UsageCall:
        uuid, cached = record.uuid or "", usage.cached or 0
        fresh, written = max(0, (usage.prompt or 0) - cached) + (usage.tool or 0), usage.written
        # A total that nobody split is taken for input, the cheapest that it can be.
        unsplit = not fresh and not cached and not usage.output and bool(usage.total)
        parts = (record.message.parts if record.message else None) or ()
        return UsageCall(
            id=uuid,
            at_us=self._at_us,
            session=self.facts.session,
            model=record.model or "",
            input=max(0, (usage.total or 0) - written) if unsplit else fresh,
            output=written,
            cache_read=cached,
            reasoning=min(usage.thoughts or 0, written),
            request=unique(uuid),
            # A copy in a branched session gives way to the record that it was made from.
            side=bool(record.side or record.agent or self.facts.sub or record.forked is not None),
            sub=record.agent or self.facts.sub,
            is_lower_bound=unsplit,
            turn=record.prompt or self._turn,
            tools=tuple(p.function.id for p in parts if p.function and p.function.id),
        )


def _loose(value: Any) -> _QwenRecord | None:
    """Returns a record of another shape, with what matters of it."""
    if not isinstance(value, dict) or value.get("usageMetadata") is None:
        return None
    needed = picked(value, *_NEEDED) | {
        "isSidechain": value.get("isSidechain") is True,
        "forkedFrom": {} if isinstance(value.get("forkedFrom"), dict) else None,
    }
    try:
        return decoding.convert(needed, _QwenRecord)
    except msgspec.ValidationError as fault:
        raise Unusable(str(fault)) from fault
