"""Threads that were forked from others, followed from their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.usage.codex_rollout import amount, counted, jsonl, meta
from tests.service.usage.tiny import a_ledger
from watchgate.agents.usage import usage_places
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.usage_files import UsageFiles


@pytest.mark.parametrize("kept", [False, True])
def test_a_thread_that_used_nothing_yet_is_no_missing_one(tmp_path: Path, kept: bool) -> None:
    folder = tmp_path / ".codex/sessions/2026/11/02"
    folder.mkdir(parents=True)
    (folder / "rollout-parent.jsonl").write_bytes(jsonl(meta("parent")))
    for child in "ab":
        lines = jsonl(meta(child, forked_from_id="parent"), counted(amount(10, 5)))
        (folder / f"rollout-{child}.jsonl").write_bytes(lines)
    book, ledger = read(tmp_path)
    if kept:
        book.save()
        _book, ledger = read(tmp_path)
    assert sorted((one.session, one.is_lower_bound) for one in ledger.calls()) == [
        ("a", False),
        ("b", False),
    ]


def read(home: Path) -> tuple[UsageFiles, Ledger]:
    ledger = a_ledger()
    book = UsageFiles(usage_places({}, str(home)), ledger, cache=home / "cache")
    book.look()
    assert book.refresh() == 0
    return book, ledger
