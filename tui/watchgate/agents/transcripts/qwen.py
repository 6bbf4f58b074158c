"""The calls in a chat of Qwen Code.

Source: Qwen Code 0.24, `projects/*/chats/<session>.jsonl`: `functionCall {id, name, args}` parts of
`assistant` lines.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.qwen import TABLE as QWEN_TABLE
from watchgate.agents.table.tools import Tools, input_of
from watchgate.agents.transcripts.lines import LineCalls, decoded, folder, mapping, parts, word
from watchgate.agents.transcripts.when import moment_us
from watchgate.core.lookback.asked import Asked


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: Any = None
    session_id: Any = None
    cwd: Any = None
    timestamp: Any = None
    uuid: Any = None
    is_sidechain: Any = None
    message: msgspec.Raw = msgspec.Raw(b"")


class QwenCalls(LineCalls[_Line]):
    """Reads one chat in order."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(_Line, stem, cwd)
        self._tools = Tools(QWEN_TABLE)

    def read(self, chunk: bytes) -> list[Asked]:
        """Returns the calls that these whole lines ask for."""
        calls: list[Asked] = []
        for line in self._lines.of(chunk):
            if line.type != "assistant":
                continue
            content = mapping(decoded(line.message)).get("parts")
            for index, part in enumerate(parts(content)):
                call = mapping(part.get("functionCall"))
                if name := word(call.get("name")):
                    calls.append(self._asked(line, name, call, index))
        return calls

    def _asked(self, line: _Line, name: str, call: dict[str, Any], index: int) -> Asked:
        call_id = word(call.get("id")) or f"{word(line.uuid)}.{index}"
        return Asked(
            agent="qwen",
            session=word(line.session_id) or self._session,
            tool=self._tools.tool(name, input_of(call.get("args")), call_id),
            at_us=moment_us(line.timestamp),
            cwd=folder(line.cwd) or self._cwd,
            side=line.is_sidechain is True,
        )
