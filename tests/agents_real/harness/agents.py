"""The agents under test, by the names that Watchgate knows them by."""

from __future__ import annotations

from typing import Final

from tests.agents_real.harness.agent import Agent
from tests.agents_real.harness.claude_code import ClaudeCode
from tests.agents_real.harness.codex import Codex
from tests.agents_real.harness.copilot import Copilot
from tests.agents_real.harness.gemini import Gemini
from tests.agents_real.harness.opencode import OpenCode
from tests.agents_real.harness.qwen import Qwen

AGENTS: Final[dict[str, type[Agent]]] = {
    each.name: each for each in (ClaudeCode, Codex, Copilot, Gemini, Qwen, OpenCode)
}
