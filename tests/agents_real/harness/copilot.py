"""GitHub Copilot CLI under test."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents_real.harness.agent import DUMMY_KEY, MODEL, Agent
from tests.agents_real.harness.conversation import PROMPT
from tests.agents_real.harness.place import Place


class Copilot(Agent):
    """Copilot with a provider of its user's own, in which case it asks for no login."""

    name = "copilot"

    def configure(self, place: Place, model_url: str) -> None:
        """Trust the work directory; show no banner."""
        config = {"trusted_folders": [str(place.work)], "banner": "never", "auto_update": False}
        place.write(self.home(place) / "config.json", json.dumps(config))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Loopback model, dummy key, and the switch that keeps it from GitHub."""
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
        """A prompt with all tools allowed."""
        return ["-p", PROMPT, "--no-color", "--no-auto-update", "--allow-all-tools"]

    def interactive(self, place: Place) -> list[str]:
        """The terminal interface, which asks unless told otherwise."""
        return ["--no-color", "--no-auto-update", "-i", PROMPT]

    def hook_file(self, place: Place) -> Path:
        """A file of our own among the user's hooks."""
        return self.home(place) / "hooks" / "watchgate.json"

    def home(self, place: Place) -> Path:
        """The directory that COPILOT_HOME names."""
        return place.home / ".copilot"
