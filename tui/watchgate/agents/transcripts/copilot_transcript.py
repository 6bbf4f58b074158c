"""The calls in an event log of Copilot CLI.

Source: Copilot CLI 1.0, `session-state/<session>/events.jsonl`: `tool.execution_start` with
`toolCallId`, `toolName` and `arguments`; `session.start` tells the session and its folder.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.copilot import TABLE
from watchgate.agents.table.payload_values import Tools, input_of
from watchgate.agents.transcripts.transcript_lines import (
    LineCalls,
    decoded,
    folder,
    mapping,
    moment_us,
    word,
)
from watchgate.core.lookback.transcript_call import TranscriptCall


class _CopilotLine(msgspec.Struct, gc=False):
    type: Any = None
    timestamp: Any = None
    data: msgspec.Raw = msgspec.Raw(b"")


class CopilotCalls(LineCalls[_CopilotLine]):
    """Reads the log of one session in order."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(_CopilotLine, stem, cwd)
        self._tools = Tools(TABLE)

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines ask for."""
        calls: list[TranscriptCall] = []
        for line in self._lines.of(chunk):
            if line.type == "session.start":
                data = mapping(decoded(line.data))
                self._session = word(data.get("sessionId")) or self._session
                self._cwd = folder(mapping(data.get("context")).get("cwd")) or self._cwd
            elif line.type == "tool.execution_start":
                data = mapping(decoded(line.data))
                if name := word(data.get("toolName")):
                    calls.append(self._asked(line, name, data))
        return calls

    def _asked(self, line: _CopilotLine, name: str, data: dict[str, Any]) -> TranscriptCall:
        call_id = word(data.get("toolCallId"))
        return TranscriptCall(
            agent="copilot",
            session=self._session,
            tool=self._tools.tool(name, input_of(data.get("arguments")), call_id),
            at_us=moment_us(line.timestamp),
            cwd=self._cwd,
        )
