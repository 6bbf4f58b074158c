"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path

from watchgate.service.crashtest.agents.base import DUMMY_KEY, MODEL, Agent
from watchgate.service.crashtest.model.conversation import PROMPT, Json
from watchgate.service.crashtest.place import Place
from watchgate.service.crashtest.plugins import PLUGINS


class OpenCode(Agent):
    """OpenCode with a chat-completions provider of its user's own."""

    name = "opencode"
    event = "tool.execute.before"
    odd = PLUGINS

    def configure(self, place: Place, model_url: str) -> None:
        """Names the loopback model; commands run without a question."""
        self.permit(place, model_url, "allow")

    def permit(self, place: Place, model_url: str, rule: str) -> None:
        """Writes the configuration with the rule for commands: `allow`, `ask` or `deny`."""
        model: Json = {
            "name": MODEL,
            "tool_call": True,
            "cost": {"input": 3, "output": 15},
            "limit": {"context": 200_000, "output": 8_000},
        }
        provider: Json = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loopback",
            "options": {"baseURL": f"{model_url}/v1", "apiKey": DUMMY_KEY},
            "models": {MODEL: model},
        }
        config: Json = {
            "autoupdate": False,
            "share": "disabled",
            "model": f"loopback/{MODEL}",
            "small_model": f"loopback/{MODEL}",
            "provider": {"loopback": provider},
            "permission": {"bash": rule, "edit": rule},
        }
        place.write(self.home(place) / "opencode.json", json.dumps(config))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns what keeps it from fetching: no updates, no model list, no language servers."""
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def headless(self, place: Place) -> list[str]:
        """Returns `run`, which rejects by itself whatever would ask."""
        return ["run", "--format", "json", PROMPT]

    def hook_file(self, place: Place) -> Path:
        """Returns a plugin of our own among the user's."""
        return self.home(place) / "plugin" / "watchgate.js"

    def hook(self, place: Place, hook: str, timeout_s: int) -> None:
        """Installs this plugin; nothing in OpenCode limits how long it takes."""
        place.write(self.hook_file(place), hook)

    def home(self, place: Place) -> Path:
        """Returns the directory of its configuration."""
        return place.home / ".config" / "opencode"
