"""Regular expressions that send an agent's reading tools one way and all others another.

They hold whether an agent searches for a match or wants the whole name to match.
"""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.core.events import ToolClass


def reads(classes: Mapping[str, ToolClass]) -> str:
    """Exactly the tools of a table that only read."""
    return f"^(?:{'|'.join(_reading(classes))})$"


def acts(classes: Mapping[str, ToolClass]) -> str:
    """Every tool but those, also one that no table knows; for engines that can look ahead."""
    return f"^(?!(?:{'|'.join(_reading(classes))})$).*$"


def _reading(classes: Mapping[str, ToolClass]) -> list[str]:
    return [name for name, cls in classes.items() if cls == "read"]
