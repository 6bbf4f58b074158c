"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
from pathlib import Path

from watchgate.service.crashtest.agents.base import CLAUDE_DENY, DUMMY_KEY, Agent
from watchgate.service.crashtest.model.conversation import PROMPT
from watchgate.service.crashtest.place import Place


class ClaudeCode(Agent):
    """Claude Code in print mode or in its terminal interface."""

    name = "claude"
    event = "PreToolUse"
    deny = CLAUDE_DENY

    def configure(self, place: Place, model_url: str) -> None:
        """Answers the first-run questions: onboarding, the key, and trust in the work directory."""
        state = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": self.version,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
            "projects": {
                str(place.work): {
                    "hasTrustDialogAccepted": True,
                    "hasCompletedProjectOnboarding": True,
                }
            },
        }
        place.write(place.home / ".claude.json", json.dumps(state))

    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """Returns loopback model, dummy key, and no traffic that the session does not need."""
        return {
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_INSTALLATION_CHECKS": "1",
        }

    def headless(self, place: Place) -> list[str]:
        """Returns print mode with the shell tool allowed."""
        shape = ["--output-format", "stream-json", "--verbose"]
        return ["-p", PROMPT, *shape, "--allowedTools", "Bash"]

    def hook_file(self, place: Place) -> Path:
        """Returns the user's settings."""
        return place.home / ".claude" / "settings.json"
