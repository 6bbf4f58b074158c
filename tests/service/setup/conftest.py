from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from watchgate.link.paths import paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.forms.guarded_command import (
    HookClient,
)


@pytest.fixture
def client(tmp_path: Path) -> HookClient:
    """A client in a directory whose name needs every kind of quoting."""
    script = tmp_path / 'it\'s a $HOME "place"' / "client.py"
    script.parent.mkdir()
    return HookClient(
        python=Path(sys.executable),
        script=script,
        ingest_socket=script.with_name("ingest.sock"),
        deadline_s=3660,
    )


@pytest.fixture
def installed() -> HookClient:
    """The real client, as the installer writes it."""
    places = paths(os.environ)
    hook_client.write_copy(places)
    hook_client.renew_bytecode(places, Path(sys.executable))
    return HookClient(
        python=Path(sys.executable),
        script=places.client,
        ingest_socket=places.ingest_socket,
        deadline_s=5,
    )
