"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path

from watchgate.service.crashtest.agents.base import CLAUDE_DENY, DUMMY_KEY, MODEL, Agent
from watchgate.service.crashtest.model.conversation import PROMPT
from watchgate.service.crashtest.place import Place

PROVIDER = ("--auth-type", "openai")


class Qwen(Agent):
    """Qwen Code with a chat-completions provider."""

    name = "qwen"
    event = "PreToolUse"
    deny = CLAUDE_DENY
    timeout_units_per_s = 1000

    def configure(self, place: Place, model_url: str) -> None:
        """Turns off updates, statistics and memory, which would ask the model too."""
        settings = {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
            "model": {"name": MODEL},
        }
        place.write(self.hook_file(place), json.dumps(settings, indent=2))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns loopback model and dummy key."""
        return {
            "OPENAI_API_KEY": DUMMY_KEY,
            "OPENAI_BASE_URL": f"{model_url}/v1",
            "OPENAI_MODEL": MODEL,
        }

    def headless(self, place: Place) -> list[str]:
        """Returns a prompt in yolo mode: without a person other modes deny the shell by rule."""
        return ["-p", PROMPT, "-o", "stream-json", *PROVIDER, "--approval-mode", "yolo"]

    def hook_file(self, place: Place) -> Path:
        """Returns the user's settings."""
        return place.home / ".qwen" / "settings.json"
