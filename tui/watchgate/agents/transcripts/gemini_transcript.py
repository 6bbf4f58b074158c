"""The calls in chats of Gemini CLI and of its fork, Qwen Code.

Source: chatRecordingService.ts of Gemini CLI: `toolCalls {id, name, args, timestamp}` of messages
of the type `gemini`, in `chats/*.jsonl`, where a whole message is appended anew when more of it is
known, and in the older `chats/*.json`, one object with all `messages`.

- The calls in a chat of Qwen Code. Source: Qwen Code 0.24, `projects/*/chats/<session>.jsonl`:
  `functionCall {id, name, args}` parts of `assistant` lines.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.gemini import TABLE as GEMINI_TABLE
from watchgate.agents.qwen import TABLE as QWEN_TABLE
from watchgate.agents.table.payload_values import Tools, input_of
from watchgate.agents.transcripts.transcript_lines import (
    LineCalls,
    decoded,
    folder,
    mapping,
    moment_us,
    parts,
    word,
)
from watchgate.core.lookback.transcript_call import TranscriptCall


class _QwenLine(msgspec.Struct, rename="camel", gc=False):
    type: Any = None
    session_id: Any = None
    cwd: Any = None
    timestamp: Any = None
    uuid: Any = None
    is_sidechain: Any = None
    message: msgspec.Raw = msgspec.Raw(b"")


class QwenCalls(LineCalls[_QwenLine]):
    """Reads one chat in order."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(_QwenLine, stem, cwd)
        self._tools = Tools(QWEN_TABLE)

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines ask for."""
        calls: list[TranscriptCall] = []
        for line in self._lines.of(chunk):
            if line.type != "assistant":
                continue
            content = mapping(decoded(line.message)).get("parts")
            for index, part in enumerate(parts(content)):
                call = mapping(part.get("functionCall"))
                if name := word(call.get("name")):
                    calls.append(self._asked(line, name, call, index))
        return calls

    def _asked(
        self, line: _QwenLine, name: str, call: dict[str, Any], index: int
    ) -> TranscriptCall:
        call_id = word(call.get("id")) or f"{word(line.uuid)}.{index}"
        return TranscriptCall(
            agent="qwen",
            session=word(line.session_id) or self._session,
            tool=self._tools.tool(name, input_of(call.get("args")), call_id),
            at_us=moment_us(line.timestamp),
            cwd=folder(line.cwd) or self._cwd,
            side=line.is_sidechain is True,
        )


class GeminiCalls(LineCalls[dict[str, Any]]):
    """Reads one chat, by lines or as a whole; Gemini does not say there in which folder it runs."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(dict[str, Any], stem, cwd)
        self._tools = Tools(GEMINI_TABLE)
        self._side = False
        self._reported: set[tuple[str, str]] = set()

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines, or this whole file, ask for."""
        if chunk[:2].strip() == b"{":
            return self._record(next(self._lines.of(chunk.replace(b"\n", b" ")), {}))
        return [asked for record in self._lines.of(chunk) for asked in self._record(record)]

    def _record(self, record: dict[str, Any]) -> list[TranscriptCall]:
        if "sessionId" in record:
            self._session = word(record["sessionId"]) or self._session
            self._side = record.get("kind") == "subagent"
        changes = mapping(record.get("$set")) or record
        if folders := changes.get("directories"):
            first = folders[0] if isinstance(folders, list) else ""
            self._cwd = self._cwd or folder(first)
        if "messages" in changes:
            return [
                each for message in parts(changes["messages"]) for each in self._message(message)
            ]
        return self._message(record)

    def _message(self, message: dict[str, Any]) -> list[TranscriptCall]:
        calls: list[TranscriptCall] = []
        if message.get("type") != "gemini":
            return calls
        for index, call in enumerate(parts(message.get("toolCalls"))):
            name, call_id = word(call.get("name")), word(call.get("id"))
            key = (word(message.get("id")), call_id or str(index))
            if not name or key in self._reported:
                continue
            self._reported.add(key)
            timestamp = call.get("timestamp") or message.get("timestamp")
            calls.append(
                TranscriptCall(
                    agent="gemini",
                    session=self._session,
                    tool=self._tools.tool(name, input_of(call.get("args")), call_id),
                    at_us=moment_us(timestamp),
                    cwd=self._cwd,
                    side=self._side,
                )
            )
        return calls
