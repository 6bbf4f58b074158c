"""Real hook commands for tests: small shell scripts, and a look at what of them is still alive."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.service.wire_frames import WAIT_S

MARK = "HOOK_TEST_MARK"


def script(folder: Path, body: str, name: str = "hook.sh") -> str:
    """An executable shell script; its path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return str(path)


def marked() -> dict[str, str]:
    """An environment that everything which inherits it can be found by."""
    return {"PATH": os.environ["PATH"], MARK: secrets.token_hex(16)}


def survivors(env: Mapping[str, str]) -> list[int]:
    """The processes that still run with this mark, once the kernel had time to end the others."""
    until_s = time.monotonic() + WAIT_S
    while (found := _alive(f"{MARK}={env[MARK]}".encode())) and time.monotonic() < until_s:
        time.sleep(0.01)
    return found


def _alive(mark: bytes) -> list[int]:
    if sys.platform != "linux":
        return []
    found = []
    for folder in Path("/proc").iterdir():
        try:
            # A zombie's environment is empty.
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_for(path: Path) -> str:
    """What is written to a file, once there is something."""
    until_s = time.monotonic() + WAIT_S
    while time.monotonic() < until_s:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.005)
    raise AssertionError(f"nothing was written to {path.name}")
