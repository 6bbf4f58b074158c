"""The calls in chats of Gemini CLI and of its fork, Qwen Code.

Source: chatRecordingService.ts of Gemini CLI: `toolCalls {id, name, args, timestamp}` of messages
of the type `gemini`, in `chats/*.jsonl`, where a whole message is appended anew when more of it is
known, and in the older `chats/*.json`, one object with all `messages`.
"""

from __future__ import annotations

from typing import Any

from watchgate.agents.gemini import TABLE as GEMINI_TABLE
from watchgate.agents.table.tools import Tools, input_of
from watchgate.agents.transcripts.lines import LineCalls, folder, mapping, parts, word
from watchgate.agents.transcripts.when import moment_us
from watchgate.core.lookback.asked import Asked


class GeminiCalls(LineCalls[dict[str, Any]]):
    """Reads one chat, by lines or as a whole; Gemini does not say there in which folder it runs."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(dict[str, Any], stem, cwd)
        self._tools = Tools(GEMINI_TABLE)
        self._side = False
        self._reported: set[tuple[str, str]] = set()

    def read(self, chunk: bytes) -> list[Asked]:
        """Returns the calls that these whole lines, or this whole file, ask for."""
        if chunk[:2].strip() == b"{":
            return self._record(next(self._lines.of(chunk.replace(b"\n", b" ")), {}))
        return [asked for record in self._lines.of(chunk) for asked in self._record(record)]

    def _record(self, record: dict[str, Any]) -> list[Asked]:
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

    def _message(self, message: dict[str, Any]) -> list[Asked]:
        calls: list[Asked] = []
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
                Asked(
                    agent="gemini",
                    session=self._session,
                    tool=self._tools.tool(name, input_of(call.get("args")), call_id),
                    at_us=moment_us(timestamp),
                    cwd=self._cwd,
                    side=self._side,
                )
            )
        return calls
