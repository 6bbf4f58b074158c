"""The tools of the released agents, as `released_tools.toml` holds them, and their classes here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from watchgate.agents import claude, codex, copilot, gemini, qwen
from watchgate.agents.opencode import opencode_payload as opencode
from watchgate.core.model.events import ToolClass

TABLE: Final = Path(__file__).parent / "released_tools.toml"


class Released(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of an agent.

    `offered` are the tools that its model is offered in a session without a terminal, each with its
    class and the fields of its input; `named` those that only its program tells of.
    """

    version: str
    offered: dict[str, tuple[str, ...]]
    named: dict[str, ToolClass] = {}

    @property
    def classes(self) -> dict[str, str]:
        """The class of every tool."""
        return {**{name: row[0] for name, row in self.offered.items()}, **self.named}


def released_tools() -> dict[str, Released]:
    """The table, by agent."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=dict[str, Released])


def classes_of(agent: str) -> Mapping[str, ToolClass]:
    """What the agent's adapter takes its tools for."""
    match agent:
        case "claude":
            return claude.CLASSES
        case "codex":
            return codex.CLASSES
        case "opencode":
            return opencode.CLASSES
        case "copilot":
            return copilot.TABLE.classes
        case "gemini":
            return gemini.TABLE.classes
        case _:
            return qwen.TABLE.classes
