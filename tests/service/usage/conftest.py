"""A book of usage over a folder of the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.usage.tiny import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "agent"
    folder.mkdir()
    return Desk(folder)
