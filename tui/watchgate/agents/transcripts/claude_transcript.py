"""The calls in a transcript of Claude Code.

Source: Claude Code 2.1, `projects/*/<session>.jsonl` and `<session>/subagents/**/agent-*.jsonl`:
`tool_use` blocks of `assistant` lines. `progress` lines repeat a sub-agent's, so they are left out.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.claude import CLASSES
from watchgate.agents.hooks.event_bodies import describe_tool
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

# The modes in which Claude Code asks nobody.
_ALONE = frozenset(("bypassPermissions", "auto", "dontAsk"))


class _ClaudeLine(msgspec.Struct, rename="camel", gc=False):
    """The fields of a line that matter; a tool's result, which may be large, is passed over."""

    type: Any = None
    session_id: Any = None
    cwd: Any = None
    timestamp: Any = None
    is_sidechain: Any = None
    permission_mode: Any = None
    message: msgspec.Raw = msgspec.Raw(b"")


class ClaudeCalls(LineCalls[_ClaudeLine]):
    """Reads one transcript in order."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(_ClaudeLine, stem, cwd)
        self._alone = False

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines ask for."""
        calls: list[TranscriptCall] = []
        for line in self._lines.of(chunk):
            if isinstance(line.permission_mode, str):
                self._alone = line.permission_mode in _ALONE
            if line.type == "assistant":
                content = mapping(decoded(line.message)).get("content")
                made = (self._asked(block, line) for block in parts(content))
                calls += (asked for asked in made if asked is not None)
        return calls

    def _asked(self, block: dict[str, Any], line: _ClaudeLine) -> TranscriptCall | None:
        name, args = word(block.get("name")), block.get("input")
        if block.get("type") != "tool_use" or not name or not isinstance(args, dict):
            return None
        return TranscriptCall(
            agent="claude",
            session=word(line.session_id) or self._session,
            tool=describe_tool(name, args, word(block.get("id")), CLASSES),
            at_us=moment_us(line.timestamp),
            cwd=folder(line.cwd) or self._cwd,
            side=line.is_sidechain is True,
            alone=self._alone,
        )
