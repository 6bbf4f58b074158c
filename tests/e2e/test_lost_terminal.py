"""A console whose terminal is gone ends, whichever way that goes; so does a core inside it."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.programs import Core, until

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
ATTACH = [sys.executable, "-m", "watchgate", "attach"]


def state_of(pid: int) -> str:
    """One letter for what a process does; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def gone(pid: int) -> bool:
    return state_of(pid) in ("", "Z")


def drawn(master: int) -> None:
    """Returns once the console has drawn its first screen."""
    shown = b""
    while b"Monitor" not in shown:
        shown += os.read(master, 65_536)


def kinds() -> list[str]:
    """What the journal tells of, in order."""
    path = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as journal:
        return [kind for (kind,) in journal.execute("SELECT kind FROM record ORDER BY seq")]


def attached() -> int:
    """How many consoles the core has by its own record."""
    return kinds().count("console.attached") - kinds().count("console.detached")


def tmux(socket: Path, *words: str) -> str:
    own = ("TMUX", "COLORTERM")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        ["tmux", "-S", str(socket), "-f", "/dev/null", *words],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout.strip()


@needs_tmux
@pytest.mark.parametrize("ending", ["kill-server", "kill-session"])
def test_a_console_ends_with_its_multiplexer_and_is_not_counted(
    running: Core, runtime_dir: Path, ending: str
) -> None:
    socket = runtime_dir / "tmux"
    tmux(socket, "new-session", "-d", "-x", "100", "-y", "30", *ATTACH)
    try:
        pid = int(tmux(socket, "list-panes", "-a", "-F", "#{pane_pid}"))
        until(lambda: "Monitor" in tmux(socket, "capture-pane", "-p"), "a drawn console")
        until(lambda: attached() == 1, "an attached console")
    finally:
        tmux(socket, ending)
    until(lambda: gone(pid), f"the end of the console, which is {state_of(pid)}")
    until(lambda: attached() == 0, "the record of its end")


def test_a_console_ends_when_its_terminal_closes(running: Core) -> None:
    pid, master = pty.fork()
    if pid == 0:
        os.execv(ATTACH[0], ATTACH)
    drawn(master)
    os.close(master)
    until(lambda: gone(pid), "the end of the console")
    os.waitpid(pid, 0)
    until(lambda: attached() == 0, "the record of its end")


def test_a_console_ends_with_a_terminal_that_sends_no_signal(running: Core) -> None:
    master, slave = pty.openpty()
    # A terminal that was opened before its session began controls nothing, so nobody is told.
    process = subprocess.Popen(
        ATTACH, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    drawn(master)
    os.close(master)
    until(lambda: gone(process.pid), "the end of the console")
    process.wait()
    until(lambda: attached() == 0, "the record of its end")


def test_a_core_inside_a_console_that_lost_its_terminal_ends_in_order(core: Core) -> None:
    pid, master = pty.fork()
    if pid == 0:
        os.execv(ATTACH[0], [*ATTACH, "--host"])
    drawn(master)
    os.close(master)
    until(lambda: gone(pid), "the end of the console")
    os.waitpid(pid, 0)
    assert "policy.stopped" in kinds()
    assert not (core.runtime / "control.sock").exists()
