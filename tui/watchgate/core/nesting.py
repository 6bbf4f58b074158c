"""The depth of a value: what is encoded again and again must stay far from the limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DEEPEST = 200
_NESTS = (dict, list)


def too_deep(value: dict[str, Any], levels: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested in each other over more than so many levels."""
    layer = _nested(value.values())
    for _ in range(levels - 1):
        if not layer:
            return False
        layer = [part for whole in layer for part in _parts(whole)]
    return bool(layer)


def _parts(whole: Any) -> list[Any]:
    return _nested(whole.values() if isinstance(whole, dict) else whole)


def _nested(parts: Iterable[Any]) -> list[Any]:
    return [part for part in parts if isinstance(part, _NESTS)]
