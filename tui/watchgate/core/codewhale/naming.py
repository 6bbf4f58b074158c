"""How a variant of CodeWhale's unions is called on the wire."""

from __future__ import annotations

import re

_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def snake(name: str) -> str:
    """The tag of a struct: `ToolLifecycle` is `tool_lifecycle`."""
    return _INNER_CAPITAL.sub("_", name).lower()
