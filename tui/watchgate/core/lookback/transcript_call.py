"""One tool call that an agent's transcript says it asked for."""

from __future__ import annotations

import re

import msgspec

from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, Record

Key = tuple[str, ...]

_UNIQUE = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")


class TranscriptCall(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A call that was proposed; whether it ran, failed or was refused is not part of it.

    `at_us` is when it was asked for (UTC µs, 0 where the transcript does not say), `side` says that
    a sub-agent asked, `alone` that the session ran in a mode in which nobody is asked.
    """

    agent: str
    session: str
    tool: Tool
    at_us: int = 0
    cwd: str = ""
    side: bool = False
    alone: bool = False

    @property
    def key(self) -> Key:
        """The values that all copies of the call share: resumed, forked and replayed transcripts.

        Ids with a long random part are unique. Gateways also give ids that only count
        (`functions.Bash:3`): there the time has to be the same as well.
        """
        call_id = self.tool.call_id or ""
        same = (self.agent, call_id, self.tool.input_hash)
        if _UNIQUE.search(call_id):
            return same
        return (*same, str(self.at_us), "" if call_id else self.session)

    @property
    def rank(self) -> tuple[bool, int, str]:
        """The sort key of copies: the call belongs to the lowest, no replay, and the earliest."""
        return (self.side, self.at_us or 1 << 62, self.session)


def call_of_record(record: Record, call: CallData) -> TranscriptCall:
    """Returns the call of a record of our own journal, which has no copies."""
    return TranscriptCall(
        agent=record.agent or "",
        session=record.session or "",
        tool=msgspec.structs.replace(call.tool, call_id=f"record:{record.seq}"),
        at_us=record.at,
        cwd=call.cwd,
        alone=call.autonomous,
    )
