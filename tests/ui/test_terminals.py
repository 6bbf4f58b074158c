"""The console in a terminal of its own: ASCII alone where asked, and every way out restores it."""

from __future__ import annotations

import os
import signal

import pytest

from tests.ui.console_program import SECRET
from tests.ui.driven_terminal import RESTORED, Terminal

PROGRAM = ("-m", "tests.ui.console_program")


def started(mode: str) -> Terminal:
    terminal = Terminal(*PROGRAM, mode, columns=120, rows=40)
    terminal.wait_for(b"Monitor")
    terminal.wait_for(b"denied in")
    return terminal


def test_every_byte_is_ascii_where_that_was_asked_for() -> None:
    terminal = started("ascii")
    for key, told in (("2", b"shown to its end"), ("4", b"by model"), ("5", b"records"),
                      ("?", b"decide on"), (":", b"every command")):  # fmt: skip
        at = len(terminal.written)
        terminal.type(key)
        terminal.wait_for(told, at)
    terminal.type("\x1b")
    terminal.type("q")
    os.kill(terminal.pid, signal.SIGTERM)
    terminal.leave()
    assert bytes(terminal.written).isascii()
    assert b"<U+6F22>" in terminal.written
    assert b"\x1b]9;" in terminal.written, "no notice was told"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(number: signal.Signals) -> None:
    terminal = started("plain")
    at = len(terminal.written)
    os.kill(terminal.pid, number)
    assert terminal.leave() == 128 + number
    for control in RESTORED:
        assert control in terminal.written[at:], control


def test_a_crash_leaves_the_terminal_as_it_was_and_says_what_goes_on() -> None:
    terminal = Terminal(*PROGRAM, "crash", columns=120, rows=40)
    assert terminal.leave() == 1
    for control in RESTORED:
        assert control in terminal.written, control
    said = terminal.written[terminal.written.rfind(b"\x1b[?1049l") :]
    assert b"AttributeError" in said
    assert b"the core goes on, `watchgate` attaches again" in b" ".join(said.split())
    assert SECRET.encode() not in terminal.written, "a local variable was told"
