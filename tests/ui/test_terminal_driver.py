"""A terminal that hung up is noticed, and takes whatever is still written to it."""

from __future__ import annotations

import os
import pty
from contextlib import suppress

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from watchgate.ui.terminal.driver import LastingFile, hung_up


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
