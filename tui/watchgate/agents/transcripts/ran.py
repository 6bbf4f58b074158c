"""The transcripts of agents: their places, and readers of the tool calls in them.

`CALL_READERS` read whole files, for a look back at what agents wanted to do. OpenCode's parts are
rows or files of their own, and not among them: see `OpenCodeCalls`. The reader of calls that ran
follows one file, for the calls that no hook reported.
"""

from __future__ import annotations

from watchgate.agents.transcripts.copilot import CopilotCalls
from watchgate.agents.transcripts.ended import ENDS, ended
from watchgate.agents.transcripts.interrupted import interrupted_at_us
from watchgate.agents.transcripts.readers import CALL_READERS, CallReader
from watchgate.core.lookback.asked import Asked
from watchgate.core.recent import Recent

CALLS_KEPT = 500
_READERS = {**CALL_READERS, "copilot": CopilotCalls}
READS = frozenset(ENDS)
"""The agents whose transcripts are read."""
_CODEX_HOOKED = frozenset(("shell", "edit", "mcp"))
"""Codex asks its hooks about these alone; its other tools change nothing but its own state."""


class Reader:
    """Reads one transcript's lines in order; a call has run once its result is in it."""

    def __init__(self, agent: str, stem: str, since_us: int) -> None:
        """Takes an `agent` of `READS`; calls asked for before `since_us` (UTC µs) are old."""
        self._agent = agent
        self._calls: CallReader = _READERS[agent](stem, "")
        self._since_us = since_us
        self._open: Recent[str, Asked] = Recent(CALLS_KEPT)

    def began(self, head: bytes) -> None:
        """Takes in the beginning of a file that is read from its end: it names the session."""
        self._calls.read(head)

    def interrupted(self, chunk: bytes) -> tuple[str, int] | None:
        """Returns the session whose turn a person broke off in these lines, and when (UTC µs)."""
        at_us = interrupted_at_us(self._agent, chunk)
        if at_us is None or at_us < max(self._since_us, self._calls.copied_until_us):
            return None
        return self._calls.session, at_us

    def ran(self, chunk: bytes) -> list[Asked]:
        """Returns the calls that these whole lines say have run; unreadable lines are skipped."""
        for asked in self._calls.read(chunk):
            since_us = max(self._since_us, self._calls.copied_until_us)
            inner = self._agent == "codex" and asked.tool.cls not in _CODEX_HOOKED
            if asked.at_us >= since_us and asked.tool.call_id and not inner:
                self._open[asked.tool.call_id] = asked
        done: list[Asked] = []
        for call_id, ran in ended(self._agent, chunk):
            if (asked_for := self._open.pop(call_id, None)) is not None and ran:
                done.append(asked_for)
        return done
