"""The transcripts of agents: their places, and readers of the tool calls in them.

`CALL_READERS` read whole files, for a look back at what agents wanted to do. OpenCode's parts are
rows or files of their own, and not among them: see `OpenCodeCalls`. The reader of calls that ran
follows one file, for the calls that no hook reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from watchgate.agents.transcripts.claude import ClaudeCalls
from watchgate.agents.transcripts.codex import CodexCalls
from watchgate.agents.transcripts.gemini import GeminiCalls
from watchgate.agents.transcripts.qwen import QwenCalls
from watchgate.core.lookback.asked import Asked


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

    def read(self, chunk: bytes) -> list[Asked]:
        """Returns the calls that some whole lines ask for."""
        ...


CALL_READERS: Final[dict[str, Callable[[str, str], CallReader]]] = {
    "claude": ClaudeCalls,
    "codex": CodexCalls,
    "gemini": GeminiCalls,
    "qwen": QwenCalls,
}
"""By agent: the reader of a file, made of its name without ending and of the folder, if known."""
