"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from watchgate.service.crashtest.agents.base import DUMMY_KEY, REASON, Agent
from watchgate.service.crashtest.model.conversation import PROMPT
from watchgate.service.crashtest.place import Place


class Gemini(Agent):
    """Gemini CLI with an API key."""

    name = "gemini"
    event = "BeforeTool"
    deny: ClassVar = {"decision": "deny", "reason": REASON}
    timeout_units_per_s = 1000

    def configure(self, place: Place, model_url: str) -> None:
        """Chooses the key as the way to log in; no updates, no statistics."""
        settings = {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {"name": "gemini-2.5-flash"},
        }
        place.write(self.hook_file(place), json.dumps(settings, indent=2))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns loopback model, dummy key, one process."""
        return {
            "GEMINI_API_KEY": DUMMY_KEY,
            "GOOGLE_GEMINI_BASE_URL": model_url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def headless(self, place: Place) -> list[str]:
        """Returns a prompt in yolo mode: without a person its other modes offer no shell at all."""
        return ["-p", PROMPT, "-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"]

    def hook_file(self, place: Place) -> Path:
        """Returns the user's settings."""
        return place.home / ".gemini" / "settings.json"
