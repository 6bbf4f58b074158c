"""The native client of this checkout."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest

from hatch_build import compile_client
from watchgate.service.setup.hook_client import sealed_native

ROOT = Path(__file__).resolve().parents[2]


def compiled(folder: Path) -> Path:
    """Compiles it there as the build hook does, and seal it as the installer does.

    Skips where nothing can compile it.
    """
    compiler = shlex.split(os.environ.get("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler here: {compiler}")
    client = folder / "hook-client"
    compile_client(ROOT, client)
    client.write_bytes(sealed_native(client.read_bytes()))
    return client
