"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path

from watchgate.service.crashtest.agents.base import CLAUDE_DENY, DUMMY_KEY, Agent
from watchgate.service.crashtest.model.conversation import PROMPT
from watchgate.service.crashtest.place import Place


class Codex(Agent):
    """Codex as `exec` or in its terminal interface."""

    name = "codex"
    event = "PreToolUse"
    deny = CLAUDE_DENY
    untrusted = ("--dangerously-bypass-hook-trust",)

    def configure(self, place: Place, model_url: str) -> None:
        """Names the loopback model as the provider and trusts the work directory."""
        # This model's catalogue entry offers plain function tools; newer ones offer one
        # JavaScript tool that the scripts here do not speak.
        text = f"""\
model = "gpt-5.5"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "{model_url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_API_KEY"
request_max_retries = 1
stream_max_retries = 1
[projects.{json.dumps(str(place.work))}]
trust_level = "trusted"
"""
        place.write(self.home(place) / "config.toml", text)

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns the dummy key and the agent's own home."""
        return {"LOOPBACK_API_KEY": DUMMY_KEY, "CODEX_HOME": str(self.home(place))}

    def headless(self, place: Place) -> list[str]:
        """Returns `exec` without a sandbox; it never asks for approval."""
        where = ["--skip-git-repo-check", "-C", str(place.work)]
        return ["exec", "--json", *where, "-s", "danger-full-access", PROMPT]

    def hook_file(self, place: Place) -> Path:
        """Returns the user's hooks."""
        return self.home(place) / "hooks.json"

    def home(self, place: Place) -> Path:
        """Returns the directory that CODEX_HOME names."""
        return place.home / ".codex"
