"""The hooks that a profile installs, with the matchers that send tools to one of them.

A matcher holds whether an agent searches for a match or wants the whole name to match.
"""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.core.events import ToolClass


def reads(classes: Mapping[str, ToolClass]) -> str:
    """Matches exactly the tools of a table that only read."""
    return f"^(?:{'|'.join(_reading(classes))})$"


def acts(classes: Mapping[str, ToolClass]) -> str:
    """Matches every other tool, also one that no table knows; for engines that can look ahead."""
    return f"^(?!(?:{'|'.join(_reading(classes))})$).*$"


def _reading(classes: Mapping[str, ToolClass]) -> list[str]:
    return [name for name, cls in classes.items() if cls == "read"]
