"""A gate call that is handed back: the hook client at a real core, and at an echo written in C."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.client import child_environment, client_command
from bench.figures import Beside, Figure, left_out, report
from bench.payloads import hook_events
from bench.serving import Core, core, cpu_s
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.hook_client import base_interpreter

LIMIT = 1.5
SOURCE = Path(__file__).with_name("echo.c")
EDIT = next(p for n, p in hook_events() if n == "PreToolUse" and b'"Edit"' in p)
"""A change inside the session's folder: the default profile has no opinion on it."""


def trip(command: Sequence[str], server: int) -> tuple[float, float]:
    """Wall seconds of one hook call, and CPU seconds of its client and of the server."""
    before_s, start = cpu_s(server), time.perf_counter()
    client = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment()
    )
    assert client.stdin is not None
    assert client.stdout is not None
    with client.stdin:
        client.stdin.write(EDIT)
    with client.stdout:
        said = client.stdout.read()
    _, status, usage = os.wait4(client.pid, 0)
    wall_s = time.perf_counter() - start
    client.returncode = status
    assert (status, said) == (0, b""), f"not handed back: {said.decode()}"
    return wall_s, usage.ru_utime + usage.ru_stime + cpu_s(server) - before_s


@contextmanager
def echo(compiler: str) -> Iterator[Core]:
    """The C echo, compiled and listening."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        program, path = Path(directory) / "echo", Path(directory) / "echo.sock"
        subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
        with subprocess.Popen([program, path]) as process:
            try:
                while not path.exists():
                    time.sleep(0.01)
                path.chmod(0o600)
                yield Core(process.pid, path, path)
            finally:
                process.terminate()


@contextmanager
def installed(python: Path) -> Iterator[Path]:
    """The hook client as agents run it."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        place = Path(directory)
        places = Paths(runtime_dir=place, state_dir=place, config=place, data_dir=place)
        hook_client.write_copy(places)
        hook_client.renew_bytecode(places, python)
        yield places.client


def figures(runs: int) -> Iterator[Figure]:
    """Wall and CPU of the round trip; nothing without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        left_out("gate call handed back", "there was no cc")
        return
    python = base_interpreter()
    with installed(python) as script, core() as ours, echo(compiler) as bare:
        trips: dict[int, list[tuple[float, float]]] = {bare.pid: [], ours.pid: []}

        for at in (bare, ours) * (runs + 1):
            trips[at.pid].append(trip(client_command(python, script, at.ingest), at.pid))
    # The first of each fills caches.
    kept = [zip(*trips[at.pid][1:], strict=True) for at in (bare, ours)]
    medians = [[statistics.median(values) for values in each] for each in kept]
    for what, base_s, ours_s in zip(("wall", "CPU"), *medians, strict=True):
        yield Figure(
            f"gate call handed back, {what}",
            ours_s * 1e3,
            "ms",
            Beside("the same client at an echo written in C", base_s * 1e3),
            LIMIT,
            f"medians of {runs}; the hook client's own process is in both",
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())
