from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from queue import Queue

import pytest

from tests.client.fake_core import (
    PATIENCE_S,
    PYTHON,
    REFERENCE,
    TEMPLATE,
    Frame,
    SlowLook,
    answering,
    command,
    hanging_up_after,
    listening,
    run,
)
from watchgate import client

pytestmark = pytest.mark.usefixtures("each_client")

HANDBACK = b"0 0 0\n"


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.mark.parametrize("lane", ["gate", "gate-read", "relay"])
def test_the_answer_is_copied_out_byte_for_byte(path: Path, lane: str) -> None:
    with listening(path, answering(b"2 5 4\n\x00{}\xff\nwhy\n")):
        done = run(command(path, lane))
    assert (done.returncode, done.stdout, done.stderr) == (2, b"\x00{}\xff\n", b"why\n")


@pytest.mark.parametrize("python", [PYTHON, "/usr/bin/python3"])
def test_a_handback_prints_nothing(path: Path, python: str) -> None:
    if shutil.which(python) is None:
        pytest.skip("no python3 of the system")
    with listening(path, answering(HANDBACK)):
        done = run(command(path, "gate", start=(python, *REFERENCE[1:])))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_answer_larger_than_a_pipe_arrives_whole(path: Path) -> None:
    out, err = b"o" * 300_000, b"e" * 70_000
    with listening(path, answering(b"0 300000 70000\n" + out + err)):
        done = run(command(path, "gate"))
    assert (done.returncode, done.stdout, done.stderr) == (0, out, err)


def test_an_answer_of_just_the_limit_arrives_whole(path: Path) -> None:
    out = b"o" * (client.ANSWER_LIMIT_BYTES - 1)
    with listening(path, answering(b"0 %d 1\n%be" % (len(out), out))):
        done = run(command(path, "gate"))
    assert (done.returncode, done.stdout == out, done.stderr) == (0, True, b"e")


def test_an_answer_may_come_in_pieces(path: Path) -> None:
    def reply(connection: socket.socket, _: Frame) -> None:
        for byte in b"2 3 1\nabcd":
            connection.sendall(bytes([byte]))

    with listening(path, reply):
        done = run(command(path, "gate"))
    assert (done.returncode, done.stdout, done.stderr) == (2, b"abc", b"d")


def test_a_core_may_close_once_it_has_answered(path: Path) -> None:
    with listening(path, hanging_up_after(b"0 2 0\nok")):
        done = run(command(path, "gate"))
    assert (done.returncode, done.stdout) == (0, b"ok")


def test_an_observer_neither_waits_nor_prints(path: Path) -> None:
    with listening(path, answering(b"2 3 3\nabcdef")) as frames:
        done = run(command(path, "observe"), b'{"a":1}')
        frame = frames.get(timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert frame.header[0] == "watchgate/1 claude observe"
    assert frame.payload == b'{"a":1}'


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # its process ends with its socket
def test_an_observer_that_was_slow_before_it_reached_the_core_tells_it_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowLook()
    monkeypatch.setattr(client, "time", slow)
    monkeypatch.setattr(client, "demand_own", slow.demand_own)
    monkeypatch.setattr(client, "read_stdin", lambda _until: bytearray(b"{}"))
    with listening(path, answering(b"")) as frames:
        assert client.ask(str(path), "claude", "observe", "", 60.0) == (0, b"", b"")
        assert frames.get(timeout=PATIENCE_S).payload == b"{}"


def into(words: list[str], stdout: int) -> int:
    return subprocess.run(words, input=b"{}", stdout=stdout, stderr=subprocess.PIPE).returncode


@pytest.mark.parametrize(
    ("lane", "template", "code"),
    [("gate", TEMPLATE, 2), ("gate-read", TEMPLATE, 2), ("gate-read", "", 0), ("relay", "", 0)],
)
def test_a_gate_denies_when_nobody_reads_its_answer(
    path: Path, lane: str, template: str, code: int
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with listening(path, answering(b"0 2 0\nok")):
        assert into(command(path, lane, "E", "10", template), writer) == code
    os.close(writer)


@pytest.mark.parametrize("lane", ["gate-read", "relay"])
def test_a_denial_stays_one_when_nobody_reads_its_words(path: Path, lane: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with listening(path, answering(b"2 2 0\nno")):
        assert into(command(path, lane, "E", "10", ""), writer) == 2
    os.close(writer)


def test_a_gate_denies_when_stdout_is_closed_and_tells_the_core_nothing_more(path: Path) -> None:
    words = ["sh", "-c", '"$@" >&-', "sh", *command(path, "gate")]
    with listening(path, answering(b"0 2 0\nok")) as frames:
        done = run(words)
        assert frames.empty()
    assert done.returncode == 2
    assert b"cannot use its stdin, stdout or socket" in done.stderr


@pytest.mark.parametrize("answer", [b"0 2 4\nokwhy\n", b"of another form\n"])
def test_a_gate_denies_when_stderr_is_closed_and_tells_the_core_nothing_more(
    path: Path, answer: bytes
) -> None:
    later: Queue[bytes] = Queue()

    def reply(connection: socket.socket, _: Frame) -> None:
        connection.sendall(answer)
        later.put(connection.recv(1))

    words = ["sh", "-c", '"$@" 2>&-', "sh", *command(path, "gate", "E", "10", TEMPLATE, "0")]
    with listening(path, reply):
        done = run(words)
        assert later.get(timeout=PATIENCE_S) == b""
    assert (done.returncode, done.stderr) == (2, b"")
