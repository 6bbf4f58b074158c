"""The first minute in a real terminal, as the console's design tells it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.programs import Core, until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

EMPTY = "No agent is connected yet."
HELP = "decide on the request in the dock"
SIZES = ((80, 24), (120, 40))
PATIENCE = 8
"""How often the screen is looked at before a key is pressed again."""

LOOK_S = 0.15
"""Between two looks: each starts a process."""

TITLES = re.compile(r"\x1b\][^\a\x1b]*(?:\a|\x1b\\)")


class Pane:
    """`watchgate` with these words in a tmux of its own; `sent` is all that it wrote."""

    def __init__(self, place: Path, words: str, columns: int, rows: int) -> None:
        self._socket = place / "tmux"
        self._sent = place / "sent"
        command = f"{shlex.quote(sys.executable)} -m watchgate {words}; echo ended with $?; cat"
        self._tmux("new-session", "-d", "-s", "s", "-x", str(columns), "-y", str(rows), "sh")
        self._tmux("pipe-pane", "-t", "s", f"cat > {self._sent}")
        self._tmux("send-keys", "-t", "s", "-l", f"clear; {command}\n")

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "s")

    @property
    def rung(self) -> int:
        """How often the bell rang; titles and notices end in the same character."""
        return TITLES.sub("", self._sent.read_text(errors="replace")).count("\a")

    def see(self, text: str) -> None:
        until(lambda: text in self.screen, f"{text!r} in\n{self.screen}", every_s=LOOK_S)

    def press(self, key: str, then: str, *, over: str) -> None:
        """Press a key, and wait for what it leads to.

        While `over` stands there it is pressed again after a while: keys that come too early, or
        close behind another one, do nothing.
        """
        self._press_until(key, lambda screen: then in screen, over, repr(then))

    def leave(self, key: str, over: str) -> None:
        """Press a key, again after a while, until `over` is gone, whatever stands there then."""
        self._press_until(key, lambda screen: over not in screen, over, f"no {over!r}")

    def _press_until(self, key: str, led: Callable[[str], bool], over: str, what: str) -> None:
        self._tmux("send-keys", "-t", "s", key)
        looks = 0

        def done() -> bool:
            nonlocal looks
            screen, looks = self.screen, looks + 1
            if not led(screen) and over in screen and not looks % PATIENCE:
                self._tmux("send-keys", "-t", "s", key)
            return led(screen)

        until(done, f"{what} after {key!r} in\n{self.screen}", every_s=LOOK_S)

    def end(self) -> None:
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        told = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words]
        return subprocess.run(told, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def pane(
    request: pytest.FixtureRequest, short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pane]:
    monkeypatch.setenv("SHELL", "/bin/sh")
    words, size = request.param
    pane = Pane(short_path, words, *size)
    yield pane
    pane.end()
    Core().cli("stop")


@pytest.mark.parametrize("pane", [("", size) for size in SIZES], indirect=True)
def test_x_plays_the_demo_and_q_leaves_one_line_in_the_shell(pane: Pane) -> None:
    pane.see(EMPTY)
    pane.press("x", "DEMO", over=EMPTY)
    pane.see("package.json")
    pane.press("?", HELP, over="DEMO")
    pane.leave("Escape", over=HELP)
    pane.press("q", EMPTY, over="DEMO")
    pane.press("q", "ended with 0", over=EMPTY)
    left = [line for line in pane.screen.splitlines() if line.startswith("watchgate:")]
    assert len(left) == 1
    assert "the core goes on" in " ".join(pane.screen.split())


@pytest.mark.parametrize("pane", [("--host", size) for size in SIZES], indirect=True)
def test_a_core_inside_the_console_ends_when_q_was_pressed_twice(pane: Pane) -> None:
    pane.see(EMPTY)
    pane.see("q quit")
    pane.press("q", "q again leaves the console and ends its core", over=EMPTY)
    assert Core().cli("status").code == 0, "it runs until then"
    pane.press("q", "ended with 0", over="q again leaves")
    assert "its core ended with it" in " ".join(pane.screen.split())


@pytest.mark.parametrize("pane", [("demo --speed 2", size) for size in SIZES], indirect=True)
def test_a_high_request_rings_and_d_denies_it_and_silence_denies_a_critical_one(pane: Pane) -> None:
    pane.see("!! 1 PENDING")
    until(lambda: pane.rung, "a bell")
    pane.see("git push --force origin docs/install")
    pane.press("d", "x denied  ", over="!! HIGH")
    pane.see("!!! CRITICAL")
    rang = pane.rung
    pane.press("a", "allow once: type yes", over="#646e")
    pane.press("Escape", "nothing was decided", over="allow once: type yes")
    pane.see("T timed out")
    assert rang >= 2
    pane.press("q", "ended with 0", over="DEMO")
    assert "the demo leaves nothing behind" in pane.screen
