"""What agents write never reaches the terminal as control: watched through a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
PASTE = "\x1b[200~\x1b]0;pasted\x07\u202e\x9b5n\x1b[201~"

# What the terminal driver itself writes: colours, cursor, modes, queries, the pointer's shape.
OWN = re.compile(
    rb"\x1b\[[0-9;:?<>=]*\$?[a-zA-Z]"  # CSI with digits only
    rb"|\x1b\]22;[a-z-]*\x07"
    rb"|\x1b[78=>]"
)


def screen_bytes(module: str, *, columns: int, rows: int, paste: str) -> bytes:
    """Everything that an app writes to a terminal of that size until it leaves."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PYTHONUTF8="1")
        os.environ.update(COLUMNS=str(columns), LINES=str(rows))
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-m", module])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    written = bytearray()
    pasted = False
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            more = os.read(terminal, 65_536)
        except OSError:
            break
        if not more:
            break
        written += more
        if not pasted and b"pwned" in written:
            pasted = True
            os.write(terminal, paste.encode())
    os.close(terminal)
    os.waitpid(pid, 0)
    return bytes(written)


@pytest.fixture(scope="module")
def written() -> bytes:
    return screen_bytes("tests.ui.hostile_app", columns=200, rows=60, paste=PASTE)


def test_the_hostile_texts_are_on_the_screen_as_words(written: bytes) -> None:
    text = re.sub(OWN, b"", written).decode()
    for words in ("<U+001B>]0;pwned<U+0007>", "<U+202E>evil", "<U+009B>31m", "[bold red]markup[/]"):
        assert words in text, words


def test_colours_of_the_agent_are_not_the_terminals(written: bytes) -> None:
    assert b"\x1b[31mred" not in written
    assert b"\x1b[5n" not in written


@pytest.mark.parametrize(
    "marker",
    [
        "\x1b]0;pwned",
        "\x1b]52",
        "\x1bP+q",
        "\x07",
        "\x08",
        "\x00",
        "\x7f",
        *"\x9b\x9d\x9c\x90",
        *"\u202e\u202c\u2066\u2069\u061c\u200e\u200f",
        *"\u200b\u2060\ufeff\u2028\u2029",
        *"\U000e0041\ufe0f\u3164",
    ],
)
def test_no_hostile_sequence_reaches_the_terminal(written: bytes, marker: str) -> None:
    assert marker.encode() not in re.sub(OWN, b"", written)


def test_every_escape_is_one_of_the_drivers_own(written: bytes) -> None:
    rest = re.sub(OWN, b"", written)
    assert b"\x1b" not in rest, rest[max(0, rest.find(b"\x1b") - 40) : rest.find(b"\x1b") + 40]
    allowed = {0x0A, 0x0D}
    assert {byte for byte in rest if byte < 0x20} <= allowed


def test_a_hostile_paste_is_shown_and_not_obeyed(written: bytes) -> None:
    assert b"]0;pasted" in re.sub(OWN, b"", written)
    assert b"\x1b]0;pasted" not in written
