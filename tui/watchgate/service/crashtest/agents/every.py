"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

from typing import Final

from watchgate.service.crashtest.agents.base import Agent
from watchgate.service.crashtest.agents.claude_code import ClaudeCode
from watchgate.service.crashtest.agents.codex import Codex
from watchgate.service.crashtest.agents.copilot import Copilot
from watchgate.service.crashtest.agents.gemini import Gemini
from watchgate.service.crashtest.agents.opencode import OpenCode
from watchgate.service.crashtest.agents.qwen import Qwen

AGENTS: Final[dict[str, type[Agent]]] = {
    each.name: each for each in (ClaudeCode, Codex, Copilot, Gemini, Qwen, OpenCode)
}
