"""The transcripts of agents: their places, and readers of the tool calls in them.

`CALL_READERS` read whole files, for a look back at what agents wanted to do. OpenCode's parts are
rows or files of their own, and not among them: see `OpenCodeCalls`. The reader of calls that ran
follows one file, for the calls that no hook reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, Protocol

import msgspec

from watchgate.agents.transcripts.claude_transcript import ClaudeCalls
from watchgate.agents.transcripts.codex_transcript import CodexCalls
from watchgate.agents.transcripts.copilot_transcript import CopilotCalls
from watchgate.agents.transcripts.gemini_transcript import GeminiCalls, QwenCalls
from watchgate.agents.transcripts.transcript_ends import ENDS, ended_calls, interrupted_at_us
from watchgate.agents.usage import usage_places
from watchgate.core.base.bounded import Recent
from watchgate.core.lookback.transcript_call import TranscriptCall

TranscriptForm = Literal["lines", "whole", "part", "rows"]
"""Lines of JSON, one JSON object, one object for each call, or a database."""

_MESSAGES: Final = "/storage/message"
_PARTS: Final = "/storage/part"
_READ: Final = frozenset(("claude", "codex", "gemini", "qwen", "opencode"))


class TranscriptPlace(msgspec.Struct, frozen=True):
    """A place of one agent's files: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: TranscriptForm


def transcript_places(env: Mapping[str, str], home: str) -> tuple[TranscriptPlace, ...]:
    """Returns every place that the environment names, else the usual one below `home`.

    OpenCode's older store keeps the calls of a message beside it, in files of their own.
    """
    transcripts = []
    for place in usage_places(env, home):
        root, form = place.root, place.form
        if place.agent not in _READ:
            continue
        if root.endswith(_MESSAGES):
            parts = root.removesuffix(_MESSAGES) + _PARTS
            transcripts.append(TranscriptPlace(place.agent, parts, place.pattern, "part"))
        else:
            transcripts.append(TranscriptPlace(place.agent, root, place.pattern, form))
    return tuple(transcripts)


class CallReader(Protocol):
    """Reads one file in order; it holds no descriptor and never raises for what a file holds."""

    copied_until_us: int

    @property
    def session(self) -> str:
        """The session that the file is of, as far as it was read."""
        ...

    @property
    def unreadable(self) -> int:
        """The number of lines that could not be read."""
        ...

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that some whole lines ask for."""
        ...


CALL_READERS: Final[dict[str, Callable[[str, str], CallReader]]] = {
    "claude": ClaudeCalls,
    "codex": CodexCalls,
    "gemini": GeminiCalls,
    "qwen": QwenCalls,
}
"""By agent: the reader of a file, made of its name without ending and of the folder, if known."""


MAX_OPEN_CALLS = 500
_READERS = {**CALL_READERS, "copilot": CopilotCalls}
READS = frozenset(ENDS)
"""The agents whose transcripts are read."""
_CODEX_HOOKED = frozenset(("shell", "edit", "mcp"))
"""Codex asks its hooks about these alone; its other tools change nothing but its own state."""


class RanCallReader:
    """Reads one transcript's lines in order; a call has run once its result is in it."""

    def __init__(self, agent: str, stem: str, since_us: int) -> None:
        """Takes an `agent` of `READS`; calls asked for before `since_us` (UTC µs) are old."""
        self._agent = agent
        self._calls: CallReader = _READERS[agent](stem, "")
        self._since_us = since_us
        self._open: Recent[str, TranscriptCall] = Recent(MAX_OPEN_CALLS)

    def began(self, head: bytes) -> None:
        """Takes in the beginning of a file that is read from its end: it names the session."""
        self._calls.read(head)

    def interrupted(self, chunk: bytes) -> tuple[str, int] | None:
        """Returns the session whose turn a person broke off in these lines, and when (UTC µs)."""
        at_us = interrupted_at_us(self._agent, chunk)
        if at_us is None or at_us < max(self._since_us, self._calls.copied_until_us):
            return None
        return self._calls.session, at_us

    def ran(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines say have run; unreadable lines are skipped."""
        for asked in self._calls.read(chunk):
            since_us = max(self._since_us, self._calls.copied_until_us)
            inner = self._agent == "codex" and asked.tool.cls not in _CODEX_HOOKED
            if asked.at_us >= since_us and asked.tool.call_id and not inner:
                self._open[asked.tool.call_id] = asked
        done: list[TranscriptCall] = []
        for call_id, ran in ended_calls(self._agent, chunk):
            if (asked_for := self._open.pop(call_id, None)) is not None and ran:
                done.append(asked_for)
        return done
