"""The client in both its forms: what uses `each_client` is tested of the one and of the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.client.compiled import compiled
from tests.client.fake_core import REFERENCE, UnderTest


@pytest.fixture(scope="session")
def native_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The native client, compiled once."""
    return compiled(tmp_path_factory.mktemp("native"))


@pytest.fixture(params=["python", "native"])
def each_client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has `command` start the one client, then the other."""
    start: Sequence[str] = REFERENCE
    if request.param == "native":
        start = (str(request.getfixturevalue("native_client")),)
    monkeypatch.setattr(UnderTest, "start", start)
