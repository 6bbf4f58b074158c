"""The readers of usage by agent; the argument is the path of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from watchgate.agents.usage.base import UsageReader
from watchgate.agents.usage.claude import ClaudeReader
from watchgate.agents.usage.codex import CodexReader
from watchgate.agents.usage.copilot import CopilotReader
from watchgate.agents.usage.gemini import GeminiReader
from watchgate.agents.usage.opencode import OpenCodeReader
from watchgate.agents.usage.qwen import QwenReader

READERS: Final[dict[str, Callable[[str], UsageReader]]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "qwen": QwenReader,
    "opencode": OpenCodeReader,
    "copilot": CopilotReader,
}
