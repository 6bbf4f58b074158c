"""The calls in what OpenCode stores.

Source: OpenCode, session/message-v2.ts: parts `{type: tool, callID, tool, state {input, time}}`,
one a row of the table `part` or, in older versions, one a file `storage/part/<message>/<part>.json`
(with `sessionID`). A fork of a session copies its parts under new ids, with their `callID`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.opencode.opencode_payload import describe_call
from watchgate.agents.transcripts.transcript_lines import folder, mapping, moment_us, word
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.lookback.transcript_call import TranscriptCall


class OpenCodeSession(msgspec.Struct, frozen=True):
    """A session's own row or file: its folder, and the session that it is a sub-agent of."""

    cwd: str = ""
    parent: str = ""


class OpenCodeCalls:
    """Reads parts, each by itself; `sessions` are those that are known, by their ids."""

    def __init__(self, sessions: dict[str, OpenCodeSession] | None = None) -> None:
        self.unreadable = 0
        self.sessions = {} if sessions is None else sessions

    def session(self, data: bytes) -> None:
        """Takes in the file of one session."""
        row = self._object(data)
        if session := word(row.get("id")):
            self.sessions[session] = OpenCodeSession(
                folder(row.get("directory")), word(row.get("parentID"))
            )

    def read(self, data: bytes, session: str = "", at_ms: Any = None) -> list[TranscriptCall]:
        """Returns the call of one part; `session` and `at_ms` are of its row, if it has one."""
        part = self._object(data)
        name, state = word(part.get("tool")), mapping(part.get("state"))
        if part.get("type") != "tool" or not name:
            return []
        session = session or word(part.get("sessionID"))
        known = self.sessions.get(session, OpenCodeSession())
        began = mapping(state.get("time")).get("start")
        return [
            TranscriptCall(
                agent="opencode",
                session=known.parent or session,
                tool=describe_call(name, mapping(state.get("input")), word(part.get("callID"))),
                at_us=moment_us(began) or moment_us(at_ms),
                cwd=known.cwd,
                side=bool(known.parent),
            )
        ]

    def _object(self, data: bytes) -> dict[str, Any]:
        try:
            decoded = msgspec.json.decode(data)
        except JSON_FAULTS:
            decoded = None
        if not isinstance(decoded, dict):
            self.unreadable += 1
        return mapping(decoded)
