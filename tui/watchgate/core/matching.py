"""Matchers as values: which events a handler wants to see.

A matcher names its `kind`; nothing is guessed from the look of a text. The empty matcher takes
every event.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.events import Event


class Matcher(msgspec.Struct, frozen=True):
    """One condition: `exact` or `prefix` on the tool's name, or `any`."""

    kind: Literal["any", "exact", "prefix"] = "any"
    value: str = ""

    def matches(self, event: Event) -> bool:
        """Whether a handler with this matcher sees the event."""
        if self.kind == "any":
            return True
        tool = event.tool
        if tool is None:
            return False
        names = (tool.name, tool.native_name)
        if self.kind == "exact":
            return self.value in names
        return any(name.startswith(self.value) for name in names)
