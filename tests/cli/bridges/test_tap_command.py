"""`tap`: a stream passes through byte for byte, whatever becomes of the core that watches it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.link.paths import paths

WAIT_S = 30.0
TAP = [sys.executable, "-m", "watchgate", "tap"]
LINES = (
    b'{"type":"thread.started","thread_id":"t1"}\n'
    b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}\n'
)
ODD = b'\xff\xfe not JSON\r\n\n{"type": torn\x00\n' + LINES + b"no end of line"


class Tapped:
    """How one tap ended."""

    def __init__(self, given: bytes, agent: str = "codex") -> None:
        done = subprocess.run([*TAP, agent], input=given, capture_output=True, timeout=WAIT_S)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr.decode()


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """A core that takes connections into its queue and reads nothing."""
    path = paths(os.environ).ingest_socket
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(8)
        yield listener


def test_the_stream_is_shown_live_and_copied_unchanged(core: Core, cli: Cli) -> None:
    tap = subprocess.Popen([*TAP, "codex"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert tap.stdin is not None
    assert tap.stdout is not None
    tap.stdin.write(LINES)
    tap.stdin.flush()
    # Unbuffered: both lines are there while the stream goes on.
    assert tap.stdout.readline() + tap.stdout.readline() == LINES
    out, _ = tap.communicate(b"", timeout=WAIT_S)
    assert (tap.returncode, out) == (0, b"")
    sessions = cli("ls", "--sessions", "--json").lines
    assert [(line["agent"], line["session"]) for line in sessions] == [("codex", "t1")]


def test_what_is_seen_is_of_the_folder_in_which_the_tap_was_started(
    core: Core, cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    subprocess.run([*TAP, "codex"], input=LINES, cwd=folder, capture_output=True, timeout=WAIT_S)
    (session,) = cli("ls", "--sessions", "--json").lines
    assert (session["session"], session["cwd"]) == ("t1", str(folder))


def test_a_stream_may_have_no_gate_on_purpose(core: Core, cli: Cli) -> None:
    item = '"item":{"id":"i1","type":"command_execution","command":"make","status":"%s"}}\n'
    ran = f'{{"type":"item.started",{item % "in_progress"}'
    ran += f'{{"type":"item.completed",{item % "completed"}'
    given = LINES + ran.encode()
    for more, cause in (((), "untrusted"), (("--no-gate",), "intended")):
        stream = given.replace(b'"t1"', f'"{cause}"'.encode())
        subprocess.run([*TAP, "codex", *more], input=stream, capture_output=True, timeout=WAIT_S)
    found = cli("search", "kind:effect.ungated", "--json").lines
    told = {each["data"]["cause"]: each["data"].get("alarm", True) for each in found}
    assert told == {"intended": False, "untrusted": True}


def test_a_folder_that_is_gone_costs_nothing_but_its_name(core: Core, cli: Cli) -> None:
    gone = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"'
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            ["sh", "-c", gone, f"{place}/gone", *TAP, "codex"],
            input=LINES,
            capture_output=True,
            timeout=WAIT_S,
        )
    assert (done.returncode, done.stdout) == (0, LINES)
    (session,) = cli("ls", "--sessions", "--json").lines
    assert (session["session"], session["cwd"]) == ("t1", "")


def test_every_byte_passes_whatever_is_made_of_it_here(core: Core, cli: Cli) -> None:
    done = Tapped(ODD)
    assert (done.code, done.out, done.err) == (0, ODD, "")
    agents = {line["agent"] for line in cli("ls", "--sessions", "--json").lines}
    assert agents == {"codex"}, "what is no JSON is shown as codex's, raw"


def test_without_a_core_it_says_so_once_and_copies() -> None:
    done = Tapped(LINES * 50)
    assert (done.code, done.out) == (0, LINES * 50)
    assert done.err.count("no core takes the stream in") == 1
    assert "watchgate serve" in done.err
    assert "100 lines were copied but not recorded" in done.err


def test_a_core_that_reads_nothing_stalls_no_byte(deaf: socket.socket) -> None:
    given = LINES[:-2] + b" " * 100_000 + LINES[-2:]
    stream = given * 200
    done = Tapped(stream)
    assert (done.code, done.out) == (0, stream)
    assert "not recorded" in done.err


def test_a_core_that_dies_is_told_of_once(deaf: socket.socket) -> None:
    tap = subprocess.Popen(
        [*TAP, "codex"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert tap.stdin is not None
    assert tap.stdout is not None
    tap.stdin.write(LINES)
    tap.stdin.flush()
    deaf.settimeout(WAIT_S)
    peer, _ = deaf.accept()
    hello = peer.recv(65536).splitlines()[0]
    assert json.loads(hello) == {"watchgate": 1, "tap": "codex", "cwd": str(Path.cwd())}
    peer.close()
    for _ in range(3):
        assert tap.stdout.readline() + tap.stdout.readline() == LINES
        tap.stdin.write(LINES)
        tap.stdin.flush()
    out, err = tap.communicate(b"", timeout=WAIT_S)
    assert (tap.returncode, out) == (0, LINES)
    assert err.count(b"the core went away") == 1


def test_it_ends_when_nobody_reads_its_copy(core: Core) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run([*TAP, "codex"], input=LINES, stdout=gone, timeout=WAIT_S)
    assert done.returncode == 0


def test_a_socket_path_that_is_too_long_costs_the_recording_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WATCHGATE_RUNTIME_DIR", str(tmp_path / ("x" * 120)))
    done = Tapped(LINES)
    assert (done.code, done.out) == (0, LINES)
    assert "not recorded" in done.err


def test_a_stream_that_nobody_understands_is_a_usage_error() -> None:
    done = Tapped(LINES, agent="hal")
    assert done.code == 2
    assert "codewhale, codex, sandbox-agent, synaps" in done.err
