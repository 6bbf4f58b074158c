"""Gemini CLI's recorded chats: what each message of the model used.

Wire format: `chats/session-*.jsonl` of Gemini CLI 0.61, one record a line: metadata, messages,
`$set` and `$rewindTo`; sub-agents in `chats/<session>/<sub-agent>.jsonl`; older versions keep one
object in a `.json`. A message is written again in full under its id once its tokens are known, and
a rewind takes it out of the chat while what it used stays used.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    CallBuffer,
    Count,
    ItemId,
    moment_us,
    parts_of,
    picked,
    text_of,
    unique,
)
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import UsageCall


class _GeminiTokens(msgspec.Struct, gc=False):
    """Counts: `input` includes what was cached; thoughts and tool prompts are not in the others."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None


class _GeminiMessage(msgspec.Struct):
    id: str | None = None
    type: str | None = None
    timestamp: str | None = None
    model: str | None = None
    tokens: _GeminiTokens | None = None
    tools: list[ItemId] | None = msgspec.field(default=None, name="toolCalls")


class _GeminiChange(msgspec.Struct):
    session: str | None = msgspec.field(default=None, name="sessionId")
    messages: list[_GeminiMessage] | None = None


class _GeminiRecord(_GeminiMessage):
    session: str | None = msgspec.field(default=None, name="sessionId")
    changed: _GeminiChange | None = msgspec.field(default=None, name="$set")
    messages: list[_GeminiMessage] | None = None


_RECORDS = decoding.decoder(_GeminiRecord)
_NEEDED = ("id", "type", "timestamp", "model", "tokens")


class GeminiReader(CallBuffer):
    """Reads one chat, by lines or (`.json`) as a whole."""

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        parent = folders[-1] if folders[-2:-1] == ["chats"] else ""
        super().__init__(FileFacts(session=parent or stem, sub=stem if parent else ""))
        self._whole = path.endswith(".json")
        self._at_us = 0
        self._turn = ""

    def read(self, chunk: bytes) -> None:
        """Takes some whole lines in, or the whole of an older file."""
        # A line break in JSON is nothing but space, so that a file is one line as well.
        text = chunk.replace(b"\n", b" ") if self._whole else chunk
        for record in self.typed(_RECORDS, text, self._loose):
            self._part(record.session, (record, *(record.messages or ())))
            if record.changed is not None:
                self._part(record.changed.session, record.changed.messages or ())

    def _part(self, session: str | None, messages: Iterable[_GeminiMessage]) -> None:
        # A sub-agent's file names itself, its folder the session.
        if session and not self.facts.sub:
            self.facts.session = session
        for each in messages:
            self._read_message(each)

    def _read_message(self, message: _GeminiMessage) -> None:
        self._at_us = moment_us(message.timestamp or "") or self._at_us
        if message.type == "user" and message.id:
            self._turn = message.id
        if (tokens := message.tokens) is None:
            return
        named = message.id or ""
        cached, thoughts = tokens.cached or 0, tokens.thoughts or 0
        call = UsageCall(
            id=named,
            at_us=self._at_us,
            session=self.facts.session,
            model=message.model or "",
            input=max(0, (tokens.input or 0) - cached) + (tokens.tool or 0),
            output=(tokens.output or 0) + thoughts,
            cache_read=cached,
            reasoning=thoughts,
            request=unique(named),
            side=bool(self.facts.sub),
            sub=self.facts.sub,
            provider="google",
            turn=self._turn,
            tools=tuple(each.id for each in message.tools or () if each.id),
        )
        if self.tell_used(call) and not call.sub:
            self.facts.context_used = call.tokens

    def _loose(self, value: Any) -> _GeminiRecord | None:
        """Returns a record of another shape, each of its messages looked at by itself."""
        if not isinstance(value, dict):
            return None
        objects = [each for each in (value, value.get("$set")) if isinstance(each, dict)]
        sessions = [text_of(each.get("sessionId")) for each in objects]
        lists = [each.get("messages") for each in objects]
        messages = chain([value], *(each for each in lists if isinstance(each, list)))
        return _GeminiRecord(
            session=next(filter(None, reversed(sessions)), None),
            messages=[message for each in messages if (message := self._loosely(each)) is not None],
        )

    def _loosely(self, value: Any) -> _GeminiMessage | None:
        if not isinstance(value, dict) or value.get("tokens") is None:
            return None
        try:
            return decoding.convert(picked(value, *_NEEDED), _GeminiMessage)
        except msgspec.ValidationError:
            self.unreadable += 1
            return None
