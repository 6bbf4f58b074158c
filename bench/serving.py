"""A real core in a process of its own, with places of its own, for as long as a figure needs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec


class Core(msgspec.Struct, frozen=True):
    """A running core: its process and its sockets."""

    pid: int
    ingest: Path
    control: Path


@contextmanager
def core(config: str = "") -> Iterator[Core]:
    """`watchgate serve` with this configuration text."""
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        names = ("RUNTIME_DIR", "STATE_DIR", "CONFIG")
        env = {f"WATCHGATE_{name}": str(Path(place) / name.lower()) for name in names}
        if config:
            settings = Path(env["WATCHGATE_CONFIG"])
            settings.touch(mode=0o600)
            settings.write_text(config)
        command = [sys.executable, "-m", "watchgate", "serve"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
        )
        assert process.stdout is not None
        with process.stdout:
            try:
                ready = msgspec.json.decode(process.stdout.readline())
                yield Core(ready["pid"], Path(ready["ingest"]), Path(ready["control"]))
            finally:
                process.terminate()
                process.wait()


def cpu_s(pid: int) -> float:
    """CPU seconds of all threads of a running process; only Linux tells them finely enough."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def loop_s(pid: int) -> float:
    """CPU seconds of a running core's event loop, which is its first thread."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def memory_bytes(pid: int) -> int:
    """The resident memory of a running process."""
    told = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(told[1]) * 1_024 if told else 0
