"""The npm packages of the agents under test, each pinned to one version."""

from __future__ import annotations

from typing import Final

import msgspec


class Package(msgspec.Struct, frozen=True):
    """An npm package; `command` is the program that it provides.

    `beside` are packages that are installed with it: a newer node where the system's is too old.
    """

    name: str
    version: str
    command: str
    beside: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[str, ...]:
        """What npm is asked to install."""
        return (f"{self.name}@{self.version}", *self.beside)


PACKAGES: Final = {
    "claude": Package("@anthropic-ai/claude-code", "2.1.329", "claude"),
    "codex": Package("@openai/codex", "0.169.0", "codex"),
    "copilot": Package("@github/copilot", "1.0.102", "copilot"),
    "gemini": Package("@google/gemini-cli", "0.61.0", "gemini"),
    "opencode": Package("opencode-ai", "1.18.33", "opencode"),
    "qwen": Package("@qwen-code/qwen-code", "0.24.4", "qwen", beside=("node@22.23.3",)),
}

ACP: Final = {
    "copilot": ("--acp",),
    "gemini": ("--acp", "--skip-trust"),
    "opencode": ("acp",),
    "qwen": ("--acp", "--auth-type", "openai"),
}
"""Those that speak the Agent Client Protocol, and the arguments that make them do so."""
