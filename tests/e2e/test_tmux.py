"""Watchgate in a real tmux: the popup, messages, title and status line, with hostile texts."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.programs import Core, bash, until
from watchgate.cli.base import tmux as quoting
from watchgate.cli.console.console_terminal import telling
from watchgate.core.config.config import Ui
from watchgate.ui.notifications.terminal_sequences import sequence

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

COLUMNS, ROWS = 100, 30


class Tmux:
    """A server of its own with one client, and what that client's terminal was sent."""

    def __init__(self, place: Path) -> None:
        self.socket = place / "tmux"
        self.run("new-session", "-d", "-s", "s", "-x", str(COLUMNS), "-y", str(ROWS), "cat")
        self._master, slave = pty.openpty()
        os.set_blocking(self._master, True)
        self._client = subprocess.Popen(
            ["tmux", "-S", str(self.socket), "attach", "-t", "s"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(slave)
        self.sent = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        until(lambda: self.run("list-clients"), "a client")
        os.environ["TMUX"] = f"{self.socket},{self.run('display-message', '-p', '#{pid}')},0"
        os.environ["TMUX_PANE"] = self.run("display-message", "-p", "-t", "s", "#{pane_id}")

    def run(self, *words: str) -> str:
        """One tmux command; what it printed."""
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            check=False,
            env={name: value for name, value in os.environ.items() if name != "TMUX"},
        )
        return done.stdout.strip()

    def type(self, text: str) -> None:
        """Press keys at the client's terminal."""
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> None:
        """Waits until the client's terminal was sent this, moves of the cursor left out."""
        until(lambda: text in self.plain, f"{text!r} in {self.plain[-2000:]!r}")

    @property
    def plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.sent)

    def end(self) -> None:
        self.run("kill-server")
        self._client.wait(timeout=20)
        # Its number is given to what is opened next, which this reader would read from.
        self._reader.join(timeout=20)
        os.close(self._master)

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 65536):
                self.sent += data.decode(errors="replace")
        except OSError:
            return


@pytest.fixture
def tmux(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tmux]:
    monkeypatch.setenv("TMUX", "")
    monkeypatch.setenv("TMUX_PANE", "")
    tmux = Tmux(short_path)
    yield tmux
    tmux.end()


def popup(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "watchgate", "popup", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_popup_opens_over_the_pane_d_denies_and_it_is_gone(running: Core, tmux: Tmux) -> None:
    hook = running.hook("PreToolUse", bash("git push --force"))
    running.pending()
    opened = popup()
    tmux.wait_for("git push --force")

    def denied() -> bool:
        tmux.type("d")  # again where it came too early: what was only just drawn takes no key
        try:
            opened.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return False
        return True

    until(denied, "the end of the popup")
    assert opened.communicate()[1] == ""
    assert opened.returncode == 0
    assert b"deny" in hook.done().out.encode()
    assert running.cli("ls", "--json").lines == []


def test_esc_closes_the_popup_with_exit_code_1_and_the_request_waits(
    running: Core, tmux: Tmux
) -> None:
    running.hook("PreToolUse", bash("git push --force"))
    running.pending()
    opened = popup()
    tmux.wait_for("git push --force")
    tmux.type("q")
    until(lambda: opened.poll() is not None, "the end of the popup")
    opened.communicate()
    assert opened.returncode == 1
    assert len(running.cli("ls", "--json").lines) == 1


def test_with_another_popup_open_nothing_was_decided(running: Core, tmux: Tmux) -> None:
    running.hook("PreToolUse", bash("git push --force"))
    running.pending()
    tmux.run("run-shell", "-b", f"tmux -S {tmux.socket} display-popup -E 'echo another; cat'")
    tmux.wait_for("another")
    opened = popup()
    _, err = opened.communicate(timeout=60)
    assert opened.returncode == 1
    assert "another one or a menu is open" in err


def test_a_popup_that_tmux_closes_was_closed_and_not_decided(running: Core, tmux: Tmux) -> None:
    running.hook("PreToolUse", bash("git push --force"))
    running.pending()
    opened = popup()
    tmux.wait_for("git push --force")
    tmux.run("display-popup", "-C")
    assert (opened.communicate(timeout=60)[1], opened.returncode) == ("", 1)


def test_a_semicolon_ends_no_command(tmux: Tmux) -> None:
    done = quoting.run("display-message", "-p", "--", "a;", "kill-server;")
    assert done is not None
    assert done.returncode != 0  # one argument too many, and not two commands
    assert quoting.answer("display-message", "-p", "--", "a\\;") == "a\\;"


def test_a_message_runs_nothing_whatever_an_agent_writes_into_it(
    tmux: Tmux, short_path: Path
) -> None:
    owned = short_path / "owned"
    evil = f"#(touch {owned}) #{{pane_id}} #[fg=red] 100% %H"
    client = tmux.run("list-clients", "-F", "#{client_name}")
    # For longer than a slow machine takes to draw it.
    tmux.run("display-message", "-c", client, "-d", "60000", "--", quoting.literal(evil))
    tmux.wait_for(f"#(touch {owned})")
    assert "#{pane_id}" in tmux.plain
    assert "100% %H" in tmux.plain
    assert not owned.exists()


@pytest.mark.anyio
async def test_tmux_shows_a_message_until_it_is_told_to_hand_sequences_on(tmux: Tmux) -> None:
    around = telling(Ui(), os.environ).around
    assert around is not None
    assert await around("watchgate: first #(x)")
    tmux.wait_for("watchgate: first #(x)")
    tmux.run("set-option", "-g", "allow-passthrough", "on")
    assert not await around("watchgate: second")
    assert "second" not in tmux.plain


@pytest.mark.anyio
async def test_whoever_does_not_see_the_console_s_pane_gets_the_message(tmux: Tmux) -> None:
    """tmux hands a sequence on only to the clients that show the pane just now."""
    around = telling(Ui(), os.environ).around
    assert around is not None
    tmux.run("set-option", "-g", "allow-passthrough", "on")
    tmux.run("new-window", "-t", "s", "cat")
    assert await around("watchgate: from another window")
    tmux.wait_for("watchgate: from another window")
    tmux.run("select-window", "-t", "s:0")
    tmux.run("split-window", "-t", "s:0", "-Z", "cat")
    assert await around("watchgate: behind a zoomed pane")
    tmux.wait_for("watchgate: behind a zoomed pane")
    tmux.run("new-session", "-d", "-s", "other", "cat")
    client = tmux.run("list-clients", "-F", "#{client_name}")
    tmux.run("switch-client", "-c", client, "-t", "other")
    assert await around("watchgate: from another session")
    tmux.wait_for("watchgate: from another session")


@pytest.mark.anyio
async def test_with_a_multiplexer_between_tmux_shows_the_message_itself(
    tmux: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux.run("set-option", "-g", "allow-passthrough", "on")
    monkeypatch.setenv("ZELLIJ", "0")
    around = telling(Ui(), os.environ).around
    assert around is not None
    assert await around("watchgate: inside zellij")
    tmux.wait_for("watchgate: inside zellij")


def test_a_notice_and_the_title_pass_through_tmux(tmux: Tmux, tmp_path: Path) -> None:
    tmux.run("set-option", "-g", "allow-passthrough", "on")
    words = tmp_path / "words"
    words.write_text(sequence("a request;", way="osc9", wrap="tmux") + "\x1b]0;(2) watchgate\x07")
    tmux.run("respawn-pane", "-k", "-t", "s", f"while read -r _; do cat {words}; done")

    def passed() -> bool:
        # While a pane has yet to be drawn tmux drops what it would hand on, so it is told again.
        tmux.run("send-keys", "-t", "s", "Enter")
        return "\x1b]9;watchgate: a request,\x07" in tmux.sent

    until(passed, "the notice outside", every_s=0.2)
    title = ("display-message", "-p", "-t", "s", "#{pane_title}")
    until(lambda: tmux.run(*title) == "(2) watchgate", "the title")


def test_the_status_line_shows_what_is_pending(running: Core, tmux: Tmux) -> None:
    running.hook("PreToolUse", bash("git push --force"))
    running.pending()
    line = running.cli("status", "--tmux").out.strip()
    assert tmux.run("display-message", "-p", line) == line
    tmux.run("set-option", "-g", "status-right-length", "80")
    tmux.run("set-option", "-g", "status-interval", "1")
    command = f"{sys.executable} -m watchgate status --tmux"
    tmux.run("set-option", "-g", "status-right", f"#({command})")
    tmux.wait_for("!! 1 pending")
