"""CodeWhale's HookEvents: the events of its sinks, one struct for each variant.

An unset optional field is null and never left out. Phases are open: those that are documented
(`start`, `end`) differ from those that are sent (`precheck`, `completed`), so any text is one.
Source of the shapes: crates/hooks of Hmbown/CodeWhale, head of 2026-08-20.
"""

from __future__ import annotations

import re

_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def snake(name: str) -> str:
    """Returns the tag of a struct: `ToolLifecycle` is `tool_lifecycle`."""
    return _INNER_CAPITAL.sub("_", name).lower()
