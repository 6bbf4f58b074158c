from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_directories() -> None:
    """None: what is pure touches no disk, and thousands of tests make thousands of directories."""
