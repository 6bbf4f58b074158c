from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.control.counter import Counter


@pytest.fixture
def counter(runtime_dir: Path) -> Counter:
    return Counter(runtime_dir)
