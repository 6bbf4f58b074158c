"""The agents under test: how each is configured and started in a throw-away place."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from tests.agents_real.harness import npm
from tests.agents_real.harness.conversation import PROMPT
from tests.agents_real.harness.place import Place

DUMMY_KEY = "sk-dummy-0000000000000000000000000000"


class Agent(ABC):
    """One agent's command line; construct it to have it installed."""

    name: ClassVar[str]
    package: ClassVar[npm.Package]

    def __init__(self) -> None:
        self.program = npm.install(self.package)

    @abstractmethod
    def configure(self, place: Place, model_url: str) -> None:
        """Write what the agent needs in order to start without questions; no hooks."""

    @abstractmethod
    def environment(self, place: Place, model_url: str) -> dict[str, str]:
        """The variables that only this agent reads."""

    @abstractmethod
    def headless(self, place: Place) -> list[str]:
        """The arguments of a run without a person, in which tools need no permission."""

    @abstractmethod
    def interactive(self, place: Place) -> list[str]:
        """The arguments of a run in a terminal, in which the agent asks for permission."""

    @abstractmethod
    def hook_file(self, place: Place) -> Path:
        """The file that holds the agent's hooks."""

    def whole_environment(self, place: Place, model_url: str) -> dict[str, str]:
        """All variables of the agent's process; whatever it wants from outside is refused."""
        return {
            **base_environment(place, self.package.programs),
            "HTTP_PROXY": model_url,
            "HTTPS_PROXY": model_url,
            "NO_PROXY": "127.0.0.1,localhost",
            **self.environment(place, model_url),
        }


class ClaudeCode(Agent):
    """Claude Code in print mode or in its terminal interface."""

    name = "claude"
    package = npm.Package("@anthropic-ai/claude-code", "2.1.329", "claude")

    def configure(self, place: Place, model_url: str) -> None:
        """Answer the first-run questions: onboarding, the key, and trust in the work directory."""
        state = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": self.package.version,
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
        """Loopback model, dummy key, no traffic that the session does not need."""
        return {
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_INSTALLATION_CHECKS": "1",
        }

    def headless(self, place: Place) -> list[str]:
        """Print mode with the shell tool allowed."""
        shape = ["--output-format", "stream-json", "--verbose"]
        return ["-p", PROMPT, *shape, "--allowedTools", "Bash"]

    def interactive(self, place: Place) -> list[str]:
        """The terminal interface in the mode that asks; its own default asks nobody."""
        return ["--permission-mode", "default", PROMPT]

    def hook_file(self, place: Place) -> Path:
        """The user's settings."""
        return place.home / ".claude" / "settings.json"


class Codex(Agent):
    """Codex as `exec` or in its terminal interface."""

    name = "codex"
    package = npm.Package("@openai/codex", "0.169.0", "codex")

    def configure(self, place: Place, model_url: str) -> None:
        """Name the loopback model as the provider and trust the work directory."""
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
        """Dummy key and the agent's own home."""
        return {"LOOPBACK_API_KEY": DUMMY_KEY, "CODEX_HOME": str(self.home(place))}

    def headless(self, place: Place) -> list[str]:
        """`exec` without a sandbox; it never asks for approval."""
        where = ["--skip-git-repo-check", "-C", str(place.work)]
        return ["exec", "--json", *where, "-s", "danger-full-access", PROMPT]

    def interactive(self, place: Place) -> list[str]:
        """The terminal interface with a read-only sandbox and approval on request."""
        screen = ["--no-alt-screen", "--no-daemon", "-C", str(place.work)]
        # A slug outside the catalogue: the others open with an advertisement for a newer model.
        return [*screen, "-s", "read-only", "-a", "on-request", "-m", "scripted-model", PROMPT]

    def hook_file(self, place: Place) -> Path:
        """The user's hooks."""
        return self.home(place) / "hooks.json"

    def home(self, place: Place) -> Path:
        """The directory that CODEX_HOME names."""
        return place.home / ".codex"


def base_environment(place: Place, *programs: Path) -> dict[str, str]:
    """A user's environment in this place, with these directories first in the path."""
    node = shutil.which("node")
    path = [*map(str, programs), *([str(Path(node).parent)] if node else [])]
    return {
        "PATH": ":".join([*path, "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(place.home),
        "TMPDIR": str(place.scratch),
        "USER": "dev",
        "SHELL": "/bin/sh",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
