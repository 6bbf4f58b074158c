"""`watchgate stdio`: the control protocol and nothing else, byte for byte."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ARGV = [sys.executable, "-m", "watchgate", "stdio"]
WAIT_S = 60


@pytest.fixture
def listener(runtime_dir: Path) -> Iterator[socket.socket]:
    """A core's control socket on which the test speaks."""
    with socket.socket(socket.AF_UNIX) as core:
        core.bind(str(runtime_dir / "control.sock"))
        core.listen()
        core.settimeout(WAIT_S)
        yield core


class Piped:
    """A running `stdio`, and the connection that it made."""

    def __init__(self, listener: socket.socket) -> None:
        self.process = subprocess.Popen(
            ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        probe, _ = listener.accept()  # it looks first whether a core is there
        probe.close()
        self.core, _ = listener.accept()
        self.core.settimeout(WAIT_S)

    def end(self) -> tuple[int, bytes, bytes]:
        """Its code, and the rest of what it wrote."""
        out, err = self.process.communicate(timeout=WAIT_S)
        self.core.close()
        return self.process.returncode, out, err


@pytest.fixture
def piped(listener: socket.socket) -> Iterator[Piped]:
    piped = Piped(listener)
    yield piped
    piped.core.close()
    piped.process.kill()
    piped.process.communicate()


def test_bytes_pass_both_ways_as_they_are(piped: Piped) -> None:
    assert piped.process.stdin is not None
    assert piped.process.stdout is not None
    said, asked = bytes(range(256)) * 1000, b"\x00\xff\n{}\n" * 50_000
    sender = threading.Thread(target=piped.core.sendall, args=(said,))
    sender.start()
    asker = threading.Thread(target=_write, args=(piped.process.stdin.fileno(), asked))
    asker.start()
    assert piped.process.stdout.read(len(said)) == said
    heard = b""
    while len(heard) < len(asked):
        heard += piped.core.recv(1 << 16)
    assert heard == asked
    sender.join()
    asker.join()


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def test_the_end_of_the_core_is_its_end(piped: Piped) -> None:
    piped.core.sendall(b'{"closed": "it was stopped"}\n')
    piped.core.shutdown(socket.SHUT_RDWR)
    assert piped.end() == (0, b'{"closed": "it was stopped"}\n', b"")


def test_the_end_of_the_input_is_passed_on_and_the_answer_still_comes(piped: Piped) -> None:
    assert piped.process.stdin is not None
    piped.process.stdin.write(b"last words\n")
    piped.process.stdin.close()
    piped.process.stdin = None
    heard = b""
    while chunk := piped.core.recv(1 << 16):
        heard += chunk
    assert heard == b"last words\n"
    piped.core.sendall(b"the answer\n")
    piped.core.shutdown(socket.SHUT_RDWR)
    assert piped.end() == (0, b"the answer\n", b"")


def test_a_reader_that_left_ends_it_quietly(piped: Piped) -> None:
    assert piped.process.stdout is not None
    assert piped.process.stderr is not None
    piped.process.stdout.close()
    try:
        while True:
            piped.core.sendall(b"x" * 65_536)
    except OSError:
        pass
    assert piped.process.wait(timeout=WAIT_S) == 0
    assert piped.process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_quietly(piped: Piped, number: signal.Signals) -> None:
    piped.process.send_signal(number)
    assert piped.end() == (0, b"", b"")


def test_without_a_core_one_is_started_and_that_is_said_beside_the_protocol() -> None:
    request = json.dumps({"id": 1, "verb": "stop"}).encode() + b"\n"
    done = subprocess.run(ARGV, input=request, capture_output=True, timeout=WAIT_S)
    assert done.returncode == 0
    hello, *rest = map(json.loads, done.stdout.splitlines())
    assert {"watchgate", "core", "boot", "seq", "profile", "schema"} <= hello.keys()
    assert all("id" in line or "closed" in line for line in rest)
    assert done.stderr.decode() == (
        "watchgate: no core was running here: one was started in the background\n"
    )


def test_none_is_started_where_that_was_said(tmp_path: Path) -> None:
    done = subprocess.run(
        [*ARGV, "--no-start"], stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S
    )
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"there is no socket" in done.stderr


def test_a_core_that_cannot_be_started_is_told_on_stderr_alone(tmp_path: Path) -> None:
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True)
    config.write_text("profile = 7\n")
    done = subprocess.run(ARGV, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the core did not start" in done.stderr
