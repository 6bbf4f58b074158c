"""Permissions: what a handler must have been granted to see each kind of event.

The names are those of SynapsCLI's extension protocol 1 (its contract file). This is the one place
that checks them, for a manifest and for a registration alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

Permission = Literal[
    "tools.intercept",
    "tools.override",
    "privacy.llm_content",
    "session.lifecycle",
    "tools.register",
    "providers.register",
    "memory.read",
    "memory.write",
    "audio.input",
    "audio.output",
]
PERMISSIONS: Final[tuple[str, ...]] = get_args(Permission)
RESERVED: Final = frozenset({"tools.override"})

_NEEDS: Final[dict[str, Permission]] = {
    "tool": "tools.intercept",
    "prompt": "privacy.llm_content",
    "message": "privacy.llm_content",
    "compact": "privacy.llm_content",
    "turn": "privacy.llm_content",
    "question": "privacy.llm_content",
    "model": "privacy.llm_content",
}


def needed(kind: str) -> Permission:
    """Returns the permission that seeing events of this canonical kind takes."""
    return _NEEDS.get(kind.partition(".")[0], "session.lifecycle")


def missing(kinds: Iterable[str], granted: Iterable[str]) -> tuple[str, Permission] | None:
    """Returns the first kind whose permission was not granted, with that permission; else None."""
    have = frozenset(granted)
    return next(((kind, needed(kind)) for kind in sorted(kinds) if needed(kind) not in have), None)
