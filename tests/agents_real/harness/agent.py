"""What every agent under test provides: how it is configured and started in a throw-away place."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from tests.agents_real.harness import npm
from tests.agents_real.harness.packages import PACKAGES, Package
from tests.agents_real.harness.place import Place

DUMMY_KEY = "sk-dummy-0000000000000000000000000000"
MODEL = "scripted-model"


class Agent(ABC):
    """One agent's command line; construct it to have it installed."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self.package = self.packaged()
        self.program = npm.install(self.package)

    @classmethod
    def packaged(cls) -> Package:
        """The pinned package that it comes in."""
        return PACKAGES[cls.name]

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
            **base_environment(place, npm.programs(self.package)),
            "HTTP_PROXY": model_url,
            "HTTPS_PROXY": model_url,
            "NO_PROXY": "127.0.0.1,localhost",
            **self.environment(place, model_url),
        }


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
