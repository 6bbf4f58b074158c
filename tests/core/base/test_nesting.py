from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.base.decoding import too_deep


def nested(levels: int, kind: type[Any]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value} if kind is dict else [value]
    return {"top": value}


@pytest.mark.parametrize("kind", [dict, list])
def test_levels_are_counted_below_the_top(kind: type[Any]) -> None:
    assert not too_deep(nested(4, kind), 5)
    assert too_deep(nested(5, kind), 5)


def test_width_does_not_count() -> None:
    assert not too_deep({str(n): [n] for n in range(1_000)}, 2)


def test_ordinary_inputs_are_far_from_the_limit() -> None:
    assert not too_deep({"command": "ls", "edits": [{"old_string": "a"}]})
    assert not too_deep({})
