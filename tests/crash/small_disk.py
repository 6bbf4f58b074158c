"""A core whose state directory is a small disk of its own, which its test can fill and empty."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.e2e.programs import Core

SIZE_BYTES = 2 * 1024 * 1024
# A mount of this process and what it starts alone, gone with them.
APART = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
MOUNT = f"""mount -t tmpfs -o size={SIZE_BYTES},mode=700 tmpfs "$WATCHGATE_STATE_DIR" || exit 77
test -z "$FULL" || cat /dev/zero > "$WATCHGATE_STATE_DIR/filler" 2>/dev/null
exec "$@"
"""


def why_not() -> str:
    """Why there can be no such disk here, empty where there can."""
    if shutil.which("unshare") is None:
        return "no unshare: it is Linux's"
    command = [*APART, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    refused = subprocess.run(command, capture_output=True).stderr
    return refused.decode().strip()


class SmallDiskCore(Core):
    """`watchgate serve` on such a disk."""

    def start(self, *args: str, full: bool = False) -> dict[str, Any]:
        state = Path(os.environ["WATCHGATE_STATE_DIR"])
        state.mkdir(mode=0o700, parents=True)
        self.process = subprocess.Popen(
            [*APART, "sh", "-c", MOUNT, "sh", sys.executable, "-m", "watchgate", "serve", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "FULL": "1" if full else ""},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1].decode())
        self.state = Path(f"/proc/{self.process.pid}/root{state}")
        """The directory, as it can be reached from outside."""
        ready: dict[str, Any] = json.loads(line)
        return ready

    def journal(self, to: Path) -> Path:
        """A copy of the journal and what belongs to it: SQLite cannot follow the way from outside.

        Nothing may be going on in the core.
        """
        to.mkdir(mode=0o700)
        for name in ("journal.db", "journal.db-wal", "journal.head"):
            shutil.copy(self.state / name, to / name)
        return to / "journal.db"

    def fill(self) -> None:
        """Leaves no room on the disk."""
        with (self.state / "filler").open("ab", buffering=0) as filler:
            for size_bytes in (65_536, 4_096, 1):
                # Larger pieces first, for each is refused while there is room for smaller ones.
                with suppress(OSError):
                    while True:
                        filler.write(bytes(size_bytes))

    def make_room(self) -> None:
        """Takes away what filled it."""
        (self.state / "filler").unlink()
