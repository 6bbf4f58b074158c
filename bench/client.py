"""The hook client against an empty script in the same interpreter: instructions and CPU.

The limits hold for the client as it is installed, which is what agents run: a launcher and cached
bytecode. What it costs run from source, compiled at every start, is reported beside them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.figures import Beside, Figure, interleaved_medians, left_out, report
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.forms.guarded_command import PASSED
from watchgate.service.setup.hook_client import base_interpreter

CLIENT = Path(__file__).parent.parent / "tui" / "watchgate" / "client.py"
HANDBACK = b"0 0 0\n"
SMALL, LARGE = b"x" * 1_000, b"x" * 100_000
INSTRUCTIONS_LIMIT, CPU_LIMIT, LARGE_LIMIT = 1.0, 1.1, 1.2


def child_environment() -> dict[str, str]:
    """The environment without what changes how Python starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def client_command(python: Path, script: Path, path: Path, lane: str = "gate") -> list[str]:
    """The installed hook command for a socket, without its guard in the shell."""
    words = [str(path), "claude", lane, "PreToolUse", "60", '{"deny":"@"}']
    return [str(python), "-I", "-S", str(script), *words]


def echo_core() -> AbstractContextManager[Path]:
    """A core that reads each frame to its end and hands back at once; its socket's path."""
    return answering(_hand_back)


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[Path]:
    """A server that answers its connections one after another; its socket's path."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        path = Path(directory) / "server.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(64)
            threading.Thread(target=_serve, args=(listener, answer), daemon=True).start()
            yield path
            listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            answer(connection)


def _hand_back(connection: socket.socket) -> None:
    data = connection.recv(1 << 18)
    while b"\n\n" not in data:
        data += connection.recv(1 << 18)
    header, _, payload = data.partition(b"\n\n")
    length = re.search(rb"^length: (\d+)$", header, re.MULTILINE)
    missing = int(length[1]) - len(payload) if length else 0
    while missing > 0:
        missing -= len(connection.recv(1 << 18))
    connection.sendall(HANDBACK)
    connection.recv(1)


def cpu_s(command: list[str], payload: bytes) -> float:
    """User and system seconds of one run of the command, fed through a pipe.

    Raises:
        RuntimeError: the command did not exit 0, or with the hook client's word for it.
    """
    theirs, ours = os.pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, theirs, 0),
        (os.POSIX_SPAWN_CLOSE, ours),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    pid = os.posix_spawn(command[0], command, child_environment(), file_actions=actions)
    os.close(theirs)
    written = 0
    while written < len(payload):
        written += os.write(ours, payload[written:])
    os.close(ours)
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, PASSED):
        raise RuntimeError(f"{' '.join(command)} ended with status {status}")
    return usage.ru_utime + usage.ru_stime


def instructions(command: list[str], payload: bytes) -> int:
    """Instructions of one run of the command, as callgrind counts them."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={directory}/out"]
        done = subprocess.run(
            [*counted, *command],
            input=payload,
            env=child_environment(),
            capture_output=True,
            check=True,
        )
    found = re.search(rb"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError("callgrind printed no count")
    return int(found[1])


class Cases(NamedTuple):
    """Three command lines: an empty script, the installed client, the client run from source."""

    empty: list[str]
    installed: list[str]
    source: list[str]


@contextmanager
def installation(python: Path) -> Iterator[Cases]:
    """The client installed as agents run it, in front of a core that hands back."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory, echo_core() as path:
        place = Path(directory)
        places = Paths(runtime_dir=path.parent, state_dir=place, config=place, data_dir=place)
        hook_client.write_copy(places)
        assert hook_client.renew_bytecode(places, python), f"{python} caches no bytecode"
        empty = place / "empty.py"
        empty.touch()
        yield Cases(
            empty=[str(python), "-I", "-S", str(empty)],
            installed=client_command(python, places.client, path),
            source=client_command(python, CLIENT, path),
        )


def figures(runs: int, python: Path) -> Iterator[Figure]:
    """The figures of the installed client; the instructions only where valgrind is installed."""
    with installation(python) as cases:
        if shutil.which("valgrind"):
            ours, base = instructions(cases.installed, SMALL), instructions(cases.empty, b"")
            yield Figure(
                "hook client, instructions",
                ours / 1e6,
                "million",
                Beside("an empty script in the same interpreter", base / 1e6),
                INSTRUCTIONS_LIMIT,
                f"callgrind, {python}",
            )
        else:
            left_out("hook client, instructions", "there was no valgrind")
        base_s, small_s, large_s, source_s = interleaved_medians(
            [
                lambda: cpu_s(cases.empty, b""),
                lambda: cpu_s(cases.installed, SMALL),
                lambda: cpu_s(cases.installed, LARGE),
                lambda: cpu_s(cases.source, SMALL),
            ],
            runs,
        )
    told = f"medians of {runs}, {python} -I -S"
    empty = Beside("an empty script in the same interpreter", base_s * 1e3)
    yield Figure("hook client, CPU", small_s * 1e3, "ms", empty, CPU_LIMIT, told)
    small = Beside("the same with 1 KB", small_s * 1e3)
    yield Figure("hook client with 100 KB, CPU", large_s * 1e3, "ms", small, LARGE_LIMIT, told)
    yield Figure(
        "hook client run from source, CPU",
        source_s * 1e3,
        "ms",
        Beside("the same from cached bytecode", small_s * 1e3),
        note=f"what installing it spares; {told}",
    )


def main() -> int:
    """Measures and prints; the exit code is not 0 when a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="runs per case (default 40)")
    parser.add_argument("--quick", action="store_const", const=12, dest="runs", help="12 runs")
    parser.add_argument("--python", type=Path, help="default: the one that the installer takes")
    args = parser.parse_args()
    python = args.python or base_interpreter()
    return report(figures(args.runs, python))


if __name__ == "__main__":
    sys.exit(main())
