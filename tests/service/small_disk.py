"""A disk that is really full: a tmpfs of one mebibyte, where the system lets us mount one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SIZE_BYTES = 1024 * 1024
CANNOT = "nobody may mount a tmpfs here, neither as root nor in a namespace of their own"
_MOUNT = 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && shift 2 && exec "$@"'


def with_small_disk(folder: Path) -> list[str] | None:
    """What runs a command, given behind it, with a small disk mounted at `folder`; None: nothing.

    The mount is seen by that process alone and goes with it.
    """
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    run = ["unshare", "--mount", *user, "sh", "-c", _MOUNT, "sh", str(SIZE_BYTES), str(folder)]
    try:
        tried = subprocess.run([*run, "true"], capture_output=True, timeout=30, check=False)
    except FileNotFoundError:
        return None
    return run if tried.returncode == 0 else None


def fill(folder: Path) -> Path:
    """Takes what room is left; whoever removes the file that is returned makes room again."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return ballast
