from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.dispatch.extensions.extension_memory import RECORDS_LIMIT, ExtensionMemory
from watchgate.core.dispatch.extensions.extension_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_PERMITTED,
    RpcRefusal,
)
from watchgate.core.dispatch.handlers import Permission

BOTH: frozenset[Permission] = frozenset({"memory.read", "memory.write"})


def contents(memory: ExtensionMemory, **query: Any) -> list[str]:
    return [record.content for record in memory.answer("memory.query", query)["records"]]


def test_what_was_appended_is_found_newest_first() -> None:
    memory = ExtensionMemory(BOTH)
    for content, namespace in (("one", "a"), ("two", "b"), ("three", "a")):
        params = {"content": content, "namespace": namespace, "tags": [content[0]]}
        assert memory.answer("memory.append", params) == {"ok": True}
    assert contents(memory) == ["three", "two", "one"]
    assert contents(memory, namespace="a") == ["three", "one"]
    assert contents(memory, contains="o", limit=1) == ["two"]
    assert contents(memory, tag="t") == ["three", "two"]


def test_the_oldest_record_makes_room() -> None:
    memory = ExtensionMemory(BOTH)
    for number in range(RECORDS_LIMIT + 1):
        memory.answer("memory.append", {"content": f"n{number}"})
    assert "n0" not in contents(memory, contains="n0", limit=100)
    assert contents(memory, contains="n1", limit=1) == ["n199"]
    assert contents(memory, contains="n500") == ["n500"]


@pytest.mark.parametrize(
    ("permissions", "method", "code"),
    [
        (frozenset(), "memory.append", NOT_PERMITTED),
        (frozenset(), "memory.query", NOT_PERMITTED),
        (frozenset({"memory.read"}), "memory.append", NOT_PERMITTED),
        (frozenset({"memory.write"}), "memory.query", NOT_PERMITTED),
        (BOTH, "tools.register", METHOD_NOT_FOUND),
        (BOTH, "", METHOD_NOT_FOUND),
        (BOTH, "memory.append", INVALID_PARAMS),
    ],
)
def test_sy_25_other_requests_and_those_without_permission_are_refused(
    permissions: frozenset[Permission], method: str, code: int
) -> None:
    refused = ExtensionMemory(permissions).answer(method, None)
    assert isinstance(refused, RpcRefusal)
    assert refused.code == code


@pytest.mark.parametrize(
    "params", [{}, [], {"content": 1}, {"content": "x" * 5_000}, {"content": "x", "more": 1}]
)
def test_what_does_not_fit_is_refused_and_not_kept(params: Any) -> None:
    memory = ExtensionMemory(BOTH)
    assert memory.answer("memory.append", params).code == INVALID_PARAMS
    assert contents(memory) == []
