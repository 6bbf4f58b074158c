"""Gemini CLI's recorded chats: what each message of the model used.

Wire format: `chats/session-*.jsonl` of Gemini CLI 0.61, one record a line: metadata, messages,
`$set` and `$rewindTo`; sub-agents in `chats/<session>/<sub-agent>.jsonl`; older versions keep one
object in a `.json`. A message is written again in full under its id once its tokens are known, and
a rewind takes it out of the chat while what it used stays used.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    CallBuffer,
    Count,
    moment_us,
    parts_of,
    picked,
    text_of,
    typed_lines,
    unique,
)
from watchgate.core.base import decoding
from watchgate.core.usage.usage_calls import UsageCall

PROVIDER: Final = "google"


class _GeminiTokens(msgspec.Struct, gc=False):
    """Counts: `input` includes what was cached; thoughts and tool prompts are not in the others."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None


class _ToolCallId(msgspec.Struct, gc=False):
    id: str | None = None


class _GeminiMessage(msgspec.Struct):
    id: str | None = None
    type: str | None = None
    timestamp: str | None = None
    model: str | None = None
    tokens: _GeminiTokens | None = None
    tools: list[_ToolCallId] | None = msgspec.field(default=None, name="toolCalls")


class _GeminiChange(msgspec.Struct):
    session: str | None = msgspec.field(default=None, name="sessionId")
    messages: list[_GeminiMessage] | None = None


class _GeminiRecord(_GeminiMessage):
    session: str | None = msgspec.field(default=None, name="sessionId")
    changed: _GeminiChange | None = msgspec.field(default=None, name="$set")
    messages: list[_GeminiMessage] | None = None


_RECORDS = decoding.decoder(_GeminiRecord)


class GeminiReader(CallBuffer):
    """Reads one chat, by lines or (`.json`) as a whole."""

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        parent = folders[-1] if folders[-2:-1] == ["chats"] else ""
        self._sub = stem if parent else ""
        super().__init__(FileFacts(session=parent or stem, sub=self._sub))
        self._whole = path.endswith(".json")
        self._at_us = 0
        self._turn = ""

    def read(self, chunk: bytes) -> None:
        """Takes some whole lines in, or the whole of an older file."""
        # A line break in JSON is nothing but space, so that a file is one line as well.
        text = chunk.replace(b"\n", b" ") if self._whole else chunk
        records, bad = typed_lines(_RECORDS, text, self._loose)
        self.unreadable += bad
        for record in records:
            self._record(record)

    def _record(self, record: _GeminiRecord) -> None:
        self._named(record.session)
        self._message(record)
        for each in record.messages or ():
            self._message(each)
        if record.changed is not None:
            self._named(record.changed.session)
            for each in record.changed.messages or ():
                self._message(each)

    def _named(self, session: str | None) -> None:
        """Notes the session; a sub-agent's file names itself, its folder the session."""
        if session and not self._sub:
            self.facts.session = session

    def _message(self, message: _GeminiMessage) -> None:
        self._at_us = moment_us(message.timestamp or "") or self._at_us
        if message.type == "user" and message.id:
            self._turn = message.id
        tokens = message.tokens
        if tokens is None:
            return
        if not message.id:
            self.unreadable += 1
            return
        cached, thoughts = tokens.cached or 0, tokens.thoughts or 0
        call = UsageCall(
            id=message.id,
            at_us=self._at_us,
            session=self.facts.session,
            model=message.model or "",
            input=max(0, (tokens.input or 0) - cached) + (tokens.tool or 0),
            output=(tokens.output or 0) + thoughts,
            cache_read=cached,
            reasoning=thoughts,
            request=unique(message.id),
            side=bool(self._sub),
            sub=self._sub,
            provider=PROVIDER,
            turn=self._turn,
            tools=tuple(each.id for each in message.tools or () if each.id),
        )
        if call.tokens:
            self.tell(call)
            if not self._sub:
                self.facts.context_used = call.tokens

    def _loose(self, value: Any) -> _GeminiRecord | None:
        """Returns a record of another shape, each of its messages looked at by itself."""
        if not isinstance(value, dict):
            return None
        changed = value.get("$set")
        objects = [value, changed] if isinstance(changed, dict) else [value]
        messages: list[Any] = [value]
        for each in objects:
            held = each.get("messages")
            messages += held if isinstance(held, list) else ()
        sessions = [text_of(each.get("sessionId")) for each in objects]
        return _GeminiRecord(
            session=next(filter(None, reversed(sessions)), None),
            messages=[message for each in messages if (message := self._loosely(each)) is not None],
        )

    def _loosely(self, value: Any) -> _GeminiMessage | None:
        if not isinstance(value, dict) or value.get("tokens") is None:
            return None
        try:
            return decoding.convert(
                picked(value, "id", "type", "timestamp", "model", "tokens"), _GeminiMessage
            )
        except msgspec.ValidationError:
            self.unreadable += 1
            return None
