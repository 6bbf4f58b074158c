"""The commands of a shell call, read in the language of the shell that its tool is."""

from __future__ import annotations

from typing import Final

from watchgate.core.events import Tool
from watchgate.core.policy.guards import MAX_SCANNED_CHARS
from watchgate.core.policy.shell.commands import Commands
from watchgate.core.policy.shell.finder import commands

_POWERSHELL: Final = "powershell"


def commands_of(tool: Tool, text: str) -> Commands:
    """Reads the commands of a tool's text, up to the length that is scanned."""
    own = _POWERSHELL in (tool.name.lower(), tool.native_name.lower())
    return commands(text[:MAX_SCANNED_CHARS], _POWERSHELL if own else "shell")
