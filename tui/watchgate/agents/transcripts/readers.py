"""The agents whose transcripts are read for a look back, each with its reader of files.

OpenCode's parts are rows or files of their own, and not here: see `OpenCodeCalls`.
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
        """How many lines could not be read."""
        ...

    def read(self, chunk: bytes) -> list[Asked]:
        """The calls that some whole lines ask for."""
        ...


CALL_READERS: Final[dict[str, Callable[[str, str], CallReader]]] = {
    "claude": ClaudeCalls,
    "codex": CodexCalls,
    "gemini": GeminiCalls,
    "qwen": QwenCalls,
}
"""By agent: the reader of a file, made of its name without ending and of the folder, if known."""
