"""Patterns of a tree find what `pathlib` finds with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from watchgate.agents.usage import UsagePlace
from watchgate.service.usage.file_scan import FileScan, PlacePatterns

FILES = (
    "a.jsonl",
    "p/a.jsonl",
    "p/a.json",
    "p/s/b.jsonl",
    "p/s/subagents/agent-1.jsonl",
    "p/s/subagents/workflows/w/agent-2.jsonl",
    "p/chats/session-1.json",
    "p/chats/s/c.jsonl",
    "p/subagents/d.jsonl",
    "2026/11/02/rollout-1.jsonl",
    "rollout-2.jsonl",
    ".hidden/e.jsonl",
)
PATTERNS = (
    "*.jsonl",
    "*/*.jsonl",
    "*/*/subagents/**/*.jsonl",
    "**/rollout-*.jsonl",
    "**/*.jsonl",
    "*/chats/**/*.jsonl",
    "*/chats/**/session-*.json",
    "p/**/subagents/**/agent-?.jsonl",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_pathlib_finds_them(tree: Path, pattern: str) -> None:
    new, gone = FileScan([UsagePlace(agent="a", root=str(tree), pattern=pattern)]).look()
    expected = sorted(map(str, tree.glob(pattern)))
    assert sorted(found.path for found in new) == expected
    assert expected
    assert gone == []


def test_a_folder_in_which_nothing_can_be_is_not_looked_into() -> None:
    patterns = PlacePatterns(
        [UsagePlace(agent="a", root="/", pattern="*/chats/*.json", form="whole")]
    )
    inner = patterns.below(patterns.root, "project")
    assert patterns.below(inner, "other") == frozenset()
    chats = patterns.below(inner, "chats")
    assert patterns.form(chats, "a.json") == "whole"
    assert patterns.form(chats, "a.jsonl") is None
    assert patterns.form(inner, "a.json") is None
