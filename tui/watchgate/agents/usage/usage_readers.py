"""The readers of usage by agent; the argument is the path of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from watchgate.agents.usage import UsageReader
from watchgate.agents.usage.claude_usage import ClaudeReader
from watchgate.agents.usage.codex_usage import CodexReader
from watchgate.agents.usage.copilot_usage import CopilotReader
from watchgate.agents.usage.gemini_usage import GeminiReader
from watchgate.agents.usage.opencode_usage import OpenCodeReader
from watchgate.agents.usage.qwen_usage import QwenReader

READERS: Final[dict[str, Callable[[str], UsageReader]]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "qwen": QwenReader,
    "opencode": OpenCodeReader,
    "copilot": CopilotReader,
}
