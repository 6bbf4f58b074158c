"""One process of an extension: whatever it started ends with it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.service.runners.extension_stage import runs, until
from watchgate.core.dispatch.extensions.extension_spec import ExtensionSpec
from watchgate.service.runners.extension_run import spawn_extension

LEAVES_ITS_GROUP = """
import os, sys, time
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.write(2, f"{os.getpid()}\\n".encode())
time.sleep(600)
"""


async def test_what_left_its_group_but_not_its_session_is_ended_too(tmp_path: Path) -> None:
    said: list[str] = []
    process = await spawn_extension(
        ExtensionSpec(
            id="guard",
            handlers=(),
            argv=(sys.executable, "-c", LEAVES_ITS_GROUP),
            cwd=str(tmp_path),
            env={},
            initialize={},
            permissions=frozenset(),
        ),
        said.append,
    )
    await until(lambda: bool(said))
    await process.end()
    await until(lambda: not runs(int(said[0])))
