from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.fake_core import PATIENCE_S, TEMPLATE, answering, command, listening
from watchgate import client

pytestmark = pytest.mark.usefixtures("each_client")

LATE = client.REASONS[TimeoutError].encode()


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


def start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(PATIENCE_S * 20):
        if holds():
            return True
        time.sleep(0.05)
    return False


def test_a_slow_stdin_is_waited_for(path: Path) -> None:
    with (
        listening(path, answering(b"0 2 0\nok")) as frames,
        start(command(path, "gate", "E", "15")) as process,
    ):
        assert process.stdin is not None
        stdin = process.stdin
        for part in (b"{", b'"a"', b":1}"):
            stdin.write(part)
            stdin.flush()
            # Its time counts from its start, so the waiting begins when it has begun to read.
            assert eventually(lambda: unread_bytes(stdin.fileno()) == 0)
            time.sleep(0.1)
        assert process.poll() is None
        out, _ = process.communicate(timeout=PATIENCE_S)
        frame = frames.get(timeout=PATIENCE_S)
    assert (out, frame.payload) == (b"ok", b'{"a":1}')
    assert int(frame.header[-1].removeprefix("deadline_ms: ")) <= 14_800


@pytest.mark.parametrize(("lane", "code"), [("gate", 2), ("relay", 0), ("observe", 0)])
def test_a_stdin_that_never_ends_is_given_up_at_the_deadline(
    path: Path, lane: str, code: int
) -> None:
    template = TEMPLATE if lane == "gate" else ""
    with (
        listening(path, answering(b"0 2 0\nok")) as frames,
        start(command(path, lane, "E", "0.6", template)) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        assert process.wait(PATIENCE_S) == code
        assert process.stdout is not None
        assert (LATE in process.stdout.read()) == (lane == "gate")
        assert frames.empty()


def test_stdin_keeps_the_mode_in_which_it_came(path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, listening(path, answering(b"0 0 0\n")):
        ours.sendall(b"{}")
        ours.shutdown(socket.SHUT_WR)
        words = command(path, "gate")
        assert subprocess.run(words, stdin=theirs.fileno(), timeout=PATIENCE_S).returncode == 0
        assert os.get_blocking(theirs.fileno())


def test_a_core_that_hangs_does_not_hold_an_observer(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        words = command(path, "observe", "E", "600", "")
        # It ends long before its deadline though the frame fits into no buffer.
        done = subprocess.run(words, input=b"x" * 3_000_000, timeout=PATIENCE_S)
    assert done.returncode == 0


# The guard after the command keeps the shell from becoming the client.
SHELL = ("sh", "-c", '"$@"; exit $?', "sh")


@pytest.mark.parametrize("size_bytes", [2, 2_000_000])
def test_the_client_leaves_when_its_parent_is_killed(path: Path, size_bytes: int) -> None:
    """Agents kill the shell that runs the hook, not what it runs."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        with start([*SHELL, *command(path, "gate", "E", "600")]) as shell:
            assert shell.stdin is not None
            shell.stdin.write(b"x" * size_bytes)
            shell.stdin.close()
            shell.stdin = None
            connection, _ = listener.accept()
            with connection:
                shell.kill()
                out, err = shell.communicate(timeout=PATIENCE_S)
                assert (out, err) == (b"", b"")
                connection.settimeout(PATIENCE_S)
                while connection.recv(1 << 20):
                    pass


def test_it_leaves_as_well_while_it_still_reads(path: Path) -> None:
    with start([*SHELL, *command(path, "gate", "E", "600")]) as shell:
        stdin, shell.stdin = shell.stdin, None
        assert stdin is not None
        with stdin:
            stdin.write(b"{")
            stdin.flush()
            assert eventually(lambda: unread_bytes(stdin.fileno()) == 0)
            shell.kill()
            assert shell.communicate(timeout=PATIENCE_S) == (b"", b"")


def unread_bytes(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_killed_client_is_a_hang_up_for_the_core(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        with start(command(path, "gate", "E", "600")) as process:
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
            connection, _ = listener.accept()
            with connection:
                process.terminate()
                connection.settimeout(PATIENCE_S)
                while connection.recv(1 << 20):
                    pass
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (out, err, process.returncode) == (b"", b"", -signal.SIGTERM)


def test_the_connection_stays_open_both_ways_while_the_client_waits(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        with start(command(path, "gate", "E", "600")) as process:
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(PATIENCE_S)
                assert connection.recv(1 << 16).endswith(b"\n\n")
                connection.settimeout(0.6)
                with pytest.raises(TimeoutError):
                    connection.recv(1)
                connection.sendall(b"0 2 0\nok")
            out, _ = process.communicate(timeout=PATIENCE_S)
        assert out == b"ok"
