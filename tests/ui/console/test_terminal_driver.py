"""A terminal that hung up is noticed, and takes whatever is still written to it."""

from __future__ import annotations

import os
import pty
from contextlib import suppress

import pytest
from textual._xterm_parser import XTermParser
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.events import Key

from watchgate.ui.console.terminal_driver import LastingFile, hung_up, keys_of, unlearn_mac_keys


def test_an_open_terminal_has_not_hung_up_and_one_without_a_master_has() -> None:
    master, slave = pty.openpty()
    assert not hung_up(slave)
    os.close(master)
    assert hung_up(slave)
    os.close(slave)


def test_the_writing_thread_outlives_the_terminal_and_never_blocks_who_writes() -> None:
    master, slave = pty.openpty()
    terminal = os.fdopen(slave, "w", encoding="utf-8")
    os.close(master)
    writer = WriterThread(LastingFile(terminal))  # type: ignore[arg-type]  # as much as it uses
    writer.start()
    for _ in range(3 * MAX_QUEUED_WRITES):
        assert writer.is_alive(), "the thread ended with its terminal"
        writer.write("a line\n")
    writer.stop()
    with suppress(OSError):
        terminal.close()


@pytest.mark.parametrize("key", ["2", "q", "d", "slash"])
def test_a_key_soon_after_escape_is_a_key_of_its_own(key: str) -> None:
    character = "/" if key == "slash" else key
    first, second = keys_of(Key(f"alt+{key}", character))
    assert isinstance(first, Key)
    assert isinstance(second, Key)
    assert (first.key, second.key, second.character) == ("escape", key, character)


def test_escape_and_a_digit_are_no_sign() -> None:
    unlearn_mac_keys()
    assert list(XTermParser().feed("\x1b2")) == [], "it waits for what may follow"


def test_every_other_key_stays_as_it_is() -> None:
    up = Key("up", None)
    assert keys_of(up) == (up,)
