"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from watchgate.service.crashtest.agents.base import DUMMY_KEY, MODEL, REASON, Agent
from watchgate.service.crashtest.model.conversation import PROMPT, Json
from watchgate.service.crashtest.place import Place


class Copilot(Agent):
    """Copilot with a provider of its user's own, in which case it asks for no login."""

    name = "copilot"
    event = "preToolUse"
    deny: ClassVar = {"permissionDecision": "deny", "permissionDecisionReason": REASON}

    def configure(self, place: Place, model_url: str) -> None:
        """Trusts the work directory; shows no banner."""
        config = {"trusted_folders": [str(place.work)], "banner": "never", "auto_update": False}
        place.write(self.home(place) / "config.json", json.dumps(config))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns loopback model, dummy key, and the switch that keeps it from GitHub."""
        return {
            "COPILOT_HOME": str(self.home(place)),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_BASE_URL": f"{model_url}/v1",
            "COPILOT_PROVIDER_API_KEY": DUMMY_KEY,
            "COPILOT_MODEL": MODEL,
        }

    def headless(self, place: Place) -> list[str]:
        """Returns a prompt with all tools allowed."""
        return ["-p", PROMPT, "--no-color", "--no-auto-update", "--allow-all-tools"]

    def hook_file(self, place: Place) -> Path:
        """Returns a file of our own among the user's hooks."""
        return self.home(place) / "hooks" / "watchgate.json"

    def hook(self, place: Place, hook: str, timeout_s: int) -> None:
        """Installs a command that runs before every call."""
        command: Json = {"type": "command", "bash": hook, "timeoutSec": timeout_s}
        hooks: Json = {"version": 1, "hooks": {self.event: [command]}}
        place.write(self.hook_file(place), json.dumps(hooks))

    def home(self, place: Place) -> Path:
        """Returns the directory that COPILOT_HOME names."""
        return place.home / ".copilot"
