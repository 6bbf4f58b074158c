"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import ClassVar, Final

from watchgate.service.crashtest.agent_driver import (
    CLAUDE_DENY,
    DUMMY_KEY,
    MODEL,
    REASON,
    AgentDriver,
)
from watchgate.service.crashtest.misbehaving_hooks import PLUGINS
from watchgate.service.crashtest.model.conversation import PROMPT, Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace, throwaway
from watchgate.service.crashtest.trial import describe_end
from watchgate.service.runners.child import run_child
from watchgate.service.runners.spawn import ChildSpec


class ClaudeCodeDriver(AgentDriver):
    """Claude Code in print mode or in its terminal interface."""

    name = "claude"
    event = "PreToolUse"
    deny = CLAUDE_DENY

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
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

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns loopback model, dummy key, and no traffic that the session does not need."""
        return {
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_INSTALLATION_CHECKS": "1",
        }

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns print mode with the shell tool allowed."""
        shape = ["--output-format", "stream-json", "--verbose"]
        return ["-p", PROMPT, *shape, "--allowedTools", "Bash"]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns the user's settings."""
        return place.home / ".claude" / "settings.json"


class CodexDriver(AgentDriver):
    """Codex as `exec` or in its terminal interface."""

    name = "codex"
    event = "PreToolUse"
    deny = CLAUDE_DENY
    untrusted = ("--dangerously-bypass-hook-trust",)

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
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

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns the dummy key and the agent's own home."""
        return {"LOOPBACK_API_KEY": DUMMY_KEY, "CODEX_HOME": str(self.home(place))}

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns `exec` without a sandbox; it never asks for approval."""
        where = ["--skip-git-repo-check", "-C", str(place.work)]
        return ["exec", "--json", *where, "-s", "danger-full-access", PROMPT]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns the user's hooks."""
        return self.home(place) / "hooks.json"

    def home(self, place: ThrowawayPlace) -> Path:
        """Returns the directory that CODEX_HOME names."""
        return place.home / ".codex"


class CopilotDriver(AgentDriver):
    """Copilot with a provider of its user's own, in which case it asks for no login."""

    name = "copilot"
    event = "preToolUse"
    deny: ClassVar = {"permissionDecision": "deny", "permissionDecisionReason": REASON}

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
        """Trusts the work directory; shows no banner."""
        config = {"trusted_folders": [str(place.work)], "banner": "never", "auto_update": False}
        place.write(self.home(place) / "config.json", json.dumps(config))

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
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

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns a prompt with all tools allowed."""
        return ["-p", PROMPT, "--no-color", "--no-auto-update", "--allow-all-tools"]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns a file of our own among the user's hooks."""
        return self.home(place) / "hooks" / "watchgate.json"

    def hook(self, place: ThrowawayPlace, hook: str, timeout_s: int) -> None:
        """Installs a command that runs before every call."""
        command: Json = {"type": "command", "bash": hook, "timeoutSec": timeout_s}
        hooks: Json = {"version": 1, "hooks": {self.event: [command]}}
        place.write(self.hook_file(place), json.dumps(hooks))

    def home(self, place: ThrowawayPlace) -> Path:
        """Returns the directory that COPILOT_HOME names."""
        return place.home / ".copilot"


class GeminiDriver(AgentDriver):
    """Gemini CLI with an API key."""

    name = "gemini"
    event = "BeforeTool"
    deny: ClassVar = {"decision": "deny", "reason": REASON}
    timeout_units_per_s = 1000

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
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

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns loopback model, dummy key, one process."""
        return {
            "GEMINI_API_KEY": DUMMY_KEY,
            "GOOGLE_GEMINI_BASE_URL": model_url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns a prompt in yolo mode: without a person its other modes offer no shell at all."""
        return ["-p", PROMPT, "-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns the user's settings."""
        return place.home / ".gemini" / "settings.json"


class OpenCodeDriver(AgentDriver):
    """OpenCode with a chat-completions provider of its user's own."""

    name = "opencode"
    event = "tool.execute.before"
    odd = PLUGINS

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
        """Names the loopback model; commands run without a question."""
        self.permit(place, model_url, "allow")

    def permit(self, place: ThrowawayPlace, model_url: str, rule: str) -> None:
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

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns the variables that keep it from fetching updates, models, language servers."""
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns `run`, which rejects by itself whatever would ask."""
        return ["run", "--format", "json", PROMPT]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns a plugin of our own among the user's."""
        return self.home(place) / "plugin" / "watchgate.js"

    def hook(self, place: ThrowawayPlace, hook: str, timeout_s: int) -> None:
        """Installs this plugin; nothing in OpenCode limits how long it takes."""
        place.write(self.hook_file(place), hook)

    def home(self, place: ThrowawayPlace) -> Path:
        """Returns the directory of its configuration."""
        return place.home / ".config" / "opencode"


PROVIDER = ("--auth-type", "openai")


class QwenDriver(AgentDriver):
    """Qwen Code with a chat-completions provider."""

    name = "qwen"
    event = "PreToolUse"
    deny = CLAUDE_DENY
    timeout_units_per_s = 1000

    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
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

    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns loopback model and dummy key."""
        return {
            "OPENAI_API_KEY": DUMMY_KEY,
            "OPENAI_BASE_URL": f"{model_url}/v1",
            "OPENAI_MODEL": MODEL,
        }

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns a prompt in yolo mode: without a person other modes deny the shell by rule."""
        return ["-p", PROMPT, "-o", "stream-json", *PROVIDER, "--approval-mode", "yolo"]

    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns the user's settings."""
        return place.home / ".qwen" / "settings.json"


DRIVERS: Final[dict[str, type[AgentDriver]]] = {
    each.name: each
    for each in (
        ClaudeCodeDriver,
        CodexDriver,
        CopilotDriver,
        GeminiDriver,
        QwenDriver,
        OpenCodeDriver,
    )
}


_VERSION: Final = re.compile(r"\d+(?:\.\d+)+(?:[-+][\w.]*\w)?")
_VERSION_S: Final = 30.0
_NOWHERE: Final = "http://127.0.0.1:9"


class AgentMissingError(Exception):
    """An agent that is not installed or does not start; the text says how to mend it."""


def installed_agent(name: str, program: Path | None) -> AgentDriver:
    """Returns the driver of this program, or of the agent's on PATH; raises `AgentMissingError`."""
    where = str(program) if program else shutil.which(name)
    if where is None:
        raise AgentMissingError(
            f"{name} is not on PATH: install it, or name it with --program PATH"
        )
    # Not resolved: an agent may be found by what lies beside the link to it.
    path = Path(where).absolute()
    if not os.access(path, os.X_OK) or path.is_dir():
        raise AgentMissingError(f"{path} is no program: name the agent's own with --program PATH")
    return DRIVERS[name](path, _version(DRIVERS[name](path, "")))


def _version(agent: AgentDriver) -> str:
    argv = (str(agent.program), "--version")
    with throwaway() as place:
        environment = agent.whole_environment(place, _NOWHERE)
        end = run_child(ChildSpec(argv=argv, cwd=str(place.work), env=environment), _VERSION_S)
    match = _VERSION.search(end.stdout.decode(errors="replace"))
    if end.exit_code != 0 or match is None:
        what = "waited too long" if end.why == "timeout" else describe_end(end)
        raise AgentMissingError(f"{agent.program} --version told no version: it {what}")
    return match[0]
