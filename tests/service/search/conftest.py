"""A journal of everything that a session can live through, and its index."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.state.test_state import HISTORY
from tests.service.history.test_call_pages import written
from watchgate.service.search.indexer import Upkeep

RECORDS = tuple(HISTORY.records)


def indexed(journal: Path) -> str:
    """Brings the index of a journal up to it; what went wrong."""
    upkeep = Upkeep(journal)
    try:
        return upkeep.round(lambda: False)
    finally:
        upkeep.close()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = written(tmp_path / "journal.db", RECORDS)
    assert indexed(path) == ""
    return path
