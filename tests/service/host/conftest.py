from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.host.test_core_host import Place


@pytest.fixture
def place(runtime_dir: Path, state_dir: Path) -> Place:
    return Place(runtime_dir, state_dir)
