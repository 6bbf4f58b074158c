"""A newcomer's whole way in an empty home: clone, look, install, decide, and take it out again."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import AGENT, PIN, bash, until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

CHECKOUT = Path(__file__).parent.parent.parent
PACKAGES = Path(os.environ.get("UV_CACHE_DIR") or Path("~/.cache/uv").expanduser())
"""Where the packages of this checkout came from, read before a test has a home of its own."""

OWN = ("HOME", "XDG_", "WATCHGATE_", "CLAUDE", "CODEX_", "TMUX", "PYTEST", "PATH")
SETUP_S = 30.0
LOOK_S = 0.15
"""Between two looks: each starts a process."""

PATIENCE = 20
"""How often the screen is looked at before a key is pressed again."""


def flat(screen: str) -> str:
    """The words on a screen, whatever lines they were broken into."""
    return " ".join(screen.split())


def tree(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder of a home by its path: its mode, and its bytes or its target."""

    def content(path: Path) -> bytes:
        if path.is_symlink():
            return bytes(path.readlink())
        return path.read_bytes() if path.is_file() else b""

    return {
        str(path.relative_to(home)): (path.lstat().st_mode, content(path))
        for path in home.rglob("*")
    }


class Shell:
    """A shell of the newcomer's in a tmux of its own."""

    def __init__(self, place: Path, columns: int, rows: int) -> None:
        self._socket = place / "tmux"
        self._commands = 0
        surroundings = {
            **{name: value for name, value in os.environ.items() if not name.startswith(OWN)},
            "HOME": str(place / "home"),
            "PATH": os.pathsep.join([str(CHECKOUT / ".bootstrap" / "bin"), os.environ["PATH"]]),
            "PS1": "$ ",
            "SHELL": "/bin/sh",
            # What a login gives, and the packages that this machine has: no part of the home.
            "XDG_RUNTIME_DIR": str(place / "run"),
            "UV_CACHE_DIR": str(PACKAGES),
            "PIP_CACHE_DIR": str(place / "pip"),
        }
        size = ["-x", str(columns), "-y", str(rows)]
        words = [f"{name}={value}" for name, value in surroundings.items()]
        env = ["env", "-i", *words, "/bin/sh"]
        self._tmux("new-session", "-d", "-s", "s", *size, "-c", str(place / "work"), *env)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "s")

    def start(self, command: str) -> None:
        """Type a command line; its exit code is said behind it."""
        self._commands += 1
        self.type(f"clear; {command}; echo ended-{self._commands} $?")

    def ends(self, *codes: int) -> str:
        """The screen once the command has ended, in one of these codes."""
        until(
            lambda: f"\nended-{self._commands} " in f"\n{self.screen}",
            f"an end in\n{self.screen}",
            every_s=LOOK_S,
            within_s=SETUP_S,
        )
        screen = f"\n{self.screen}"
        assert any(f"\nended-{self._commands} {code}\n" in screen for code in codes or (0,)), screen
        return screen

    def run(self, command: str, *codes: int) -> str:
        self.start(command)
        return self.ends(*codes)

    def see(self, text: str) -> None:
        until(
            lambda: text in self.screen,
            f"{text!r} in\n{self.screen}",
            every_s=LOOK_S,
            within_s=SETUP_S,
        )

    def answer(self, question: str, text: str) -> None:
        """Answers what the command asks last."""
        until(
            lambda: question in self.screen.rstrip().rpartition("\n")[2],
            f"{question!r} at the end of\n{self.screen}",
            every_s=LOOK_S,
        )
        self.type(text)

    def press(self, key: str, then: str, *, over: str) -> None:
        """Press a key until it leads to a text, as long as the other one is on the screen."""
        looks = 0

        def led() -> bool:
            nonlocal looks
            screen = self.screen
            if then not in screen and over in screen and not looks % PATIENCE:
                self._tmux("send-keys", "-t", "s", key)
            looks += 1
            return then in screen

        until(
            led,
            f"{then!r} after {key!r} in\n{self.screen}",
            every_s=LOOK_S,
            within_s=SETUP_S,
        )

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-t", "s", "-l", text)
        self._tmux("send-keys", "-t", "s", "Enter")

    def end(self) -> None:
        """Ends the terminal, and the core that a failed test has left behind."""
        self._tmux("kill-server")
        own = bytes(self._socket.with_name("work") / "src")
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if own in command.read_bytes():
                    os.kill(int(command.parent.name), signal.SIGKILL)

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class Held:
    """A call of Claude Code's below a process that stands for it, until its hook has answered."""

    def __init__(self, home: Path, command: str) -> None:
        settings = json.loads((home / ".claude" / "settings.json").read_text())
        hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", AGENT, "/bin/sh", "-c", hook],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(bash(command, call=command)))
        self._process.stdin.close()
        self._process.stdin = None

    def answer(self) -> tuple[int, str]:
        """How the hook ended, and its word for the call."""
        out, _ = self._process.communicate(timeout=60)
        answer: dict[str, Any] = json.loads(out)["hookSpecificOutput"]
        return self._process.returncode, str(answer["permissionDecision"])


@pytest.fixture(params=[(80, 24), (120, 40)], ids=["80x24", "120x40"])
def shell(request: pytest.FixtureRequest, short_path: Path) -> Iterator[Shell]:
    for folder in ("home", "run", "work"):
        (short_path / folder).mkdir(mode=0o700)
    shell = Shell(short_path, *request.param)
    yield shell
    shell.end()


def test_a_newcomer_looks_installs_decides_and_leaves_the_home_as_it_was(
    shell: Shell, short_path: Path
) -> None:
    home = short_path / "home"
    before = tree(home)
    shell.run(f"git clone -q {shlex.quote(str(CHECKOUT))} src && cd src")
    assert "no agent asked for anything" in flat(shell.run("make lookback"))

    shell.start("make demo")
    shell.press("d", "x denied  ", over="!! HIGH")
    shell.press("q", "ended-", over="DEMO")
    shell.ends()
    assert tree(home) == before, "nothing of the user's was touched so far"

    shell.run("PATH=$PWD/.venv/bin:$PATH")
    shell.start("watchgate install claude")
    shell.answer("[Y/n]", "")
    shell.answer("PIN", PIN)
    shell.answer("Once more", PIN)
    assert "watchgate uninstall claude" in flat(shell.ends())

    shell.start("watchgate")
    shell.see("No call has come yet")
    allowed = Held(home, "git push --force origin main")
    shell.press("a", "unlock this terminal, PIN", over="!! HIGH")
    shell.type(PIN)
    shell.press("a", "+ running", over="!! HIGH")
    assert allowed.answer() == (0, "allow")
    denied = Held(home, "git push --force origin release")
    shell.press("d", "x denied  ", over="!! HIGH")
    assert denied.answer() == (2, "deny")
    shell.press("q", "ended-", over="x denied  ")
    assert "the core goes on" in flat(shell.ends())

    assert "exit 0" in flat(shell.run("watchgate doctor"))
    shell.run("watchgate costs", 0, 1)
    shell.start("watchgate uninstall --all")
    shell.answer("[y/N]", "y")
    assert "is gone" in flat(shell.ends())
    assert tree(home) == before
    assert list((short_path / "run").iterdir()) == []
