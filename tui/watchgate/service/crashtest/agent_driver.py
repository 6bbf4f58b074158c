"""The interface of an agent's driver: its setup and start in a throw-away place."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from watchgate.service.crashtest.misbehaving_hooks import COMMANDS, OddHooks
from watchgate.service.crashtest.model.conversation import Json
from watchgate.service.crashtest.throwaway import ThrowawayPlace

DUMMY_KEY = "sk-dummy-0000000000000000000000000000"
MODEL = "scripted-model"
REASON = "no: this call is part of a crash test"
CLAUDE_DENY: Json = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": REASON,
    }
}
"""The answer that Claude Code reads as a denial, and so do those that took its hooks over."""

_RUNTIMES = ("node", "bun")
"""Programs that run the agents which are scripts."""


class AgentDriver(ABC):
    """Drives one agent's command line: `program` is started, `version` is what it calls itself.

    `event` is where a hook can prevent a call, `deny` what a hook prints to do so,
    `timeout_units_per_s` the unit of the limit in the hook file, and `untrusted` are options with
    which hooks run that nobody has trusted. `odd` are the misbehaving hooks that it is tried with.
    """

    name: ClassVar[str]
    event: ClassVar[str]
    deny: ClassVar[Json] = {}
    odd: ClassVar[OddHooks] = COMMANDS
    timeout_units_per_s: ClassVar[int] = 1
    untrusted: ClassVar[tuple[str, ...]] = ()

    def __init__(self, program: Path, version: str) -> None:
        self.program = program
        self.version = version

    @abstractmethod
    def configure(self, place: ThrowawayPlace, model_url: str) -> None:
        """Writes what the agent needs in order to start without questions; no hooks."""

    @abstractmethod
    def environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns the variables that only this agent reads."""

    @abstractmethod
    def headless(self, place: ThrowawayPlace) -> list[str]:
        """Returns the arguments of a run without a person, in which tools need no permission."""

    @abstractmethod
    def hook_file(self, place: ThrowawayPlace) -> Path:
        """Returns the path of the file that holds the agent's hooks."""

    def hook(self, place: ThrowawayPlace, hook: str, timeout_s: int) -> None:
        """Installs a command that runs before every call; whatever else the file says stays."""
        file = self.hook_file(place)
        settings: Json = json.loads(file.read_text()) if file.exists() else {}
        limit = timeout_s * self.timeout_units_per_s
        command: Json = {"type": "command", "command": hook, "timeout": limit}
        settings["hooks"] = {self.event: [{"hooks": [command]}]}
        place.write(file, json.dumps(settings))

    def whole_environment(self, place: ThrowawayPlace, model_url: str) -> dict[str, str]:
        """Returns all variables of the agent's process; its proxies refuse every request."""
        return {
            **base_environment(place, self.program.parent),
            "HTTP_PROXY": model_url,
            "HTTPS_PROXY": model_url,
            "NO_PROXY": "127.0.0.1,localhost",
            **self.environment(place, model_url),
        }


def base_environment(place: ThrowawayPlace, *programs: Path) -> dict[str, str]:
    """Returns a user's environment in this place, with these directories first in the path.

    Nothing of the caller's own comes along: no key, no proxy, no directory of settings.
    """
    runtimes = [str(Path(runtime).parent) for name in _RUNTIMES if (runtime := shutil.which(name))]
    path = [*map(str, programs), *runtimes, "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(dict.fromkeys(path)),
        "HOME": str(place.home),
        "TMPDIR": str(place.scratch),
        "USER": "dev",
        "SHELL": "/bin/sh",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
