"""A terminal of its own for an agent, in a tmux server that nothing else uses."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.throwaway import ThrowawayPlace

WIDTH, HEIGHT = "120", "45"
PANE = "agent"
SETTLE_S = 1.0

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """What a person at the terminal sees and types."""

    def __init__(self, place: ThrowawayPlace, name: str) -> None:
        self._command = ["tmux", "-S", str(place.top / f"tmux-{name}"), "-f", "/dev/null"]
        self._environment = {"PATH": "/usr/bin:/bin", "HOME": str(place.home), "LANG": "C.UTF-8"}

    def run(self, *arguments: str) -> str:
        """Runs one tmux command and returns what it printed."""
        done = subprocess.run(
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=self._environment,
        )
        return done.stdout

    def screen(self) -> str:
        """The text on the screen now."""
        return self.run("capture-pane", "-p", "-t", PANE).rstrip()

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names, such as `Enter` or `1`."""
        self.run("send-keys", "-t", PANE, *keys)

    def press_until(self, key: str, pattern: str) -> None:
        """Press one key as a person would, again if it came too early, until the screen matches.

        A console takes no key for a request that was only just drawn.
        """

        self.press_till(key, lambda: self.shows(pattern), f"{pattern!r}")

    def press_till(self, key: str, probe: Callable[[], bool], what: str) -> None:
        """Press one key, again if it came too early, until `probe` is true."""

        def pressed() -> bool:
            if probe():
                return True
            self.press(key)
            time.sleep(SETTLE_S)
            return probe()

        eventually(pressed, f"{what} after {key}")

    def type(self, text: str) -> None:
        """Type a text, one key after the other."""
        for character in text:
            self.run("send-keys", "-t", PANE, "-l", character)

    def shows(self, pattern: str) -> bool:
        """Whether a line on the screen matches."""
        return re.search(pattern, self.screen()) is not None

    def wait_for(self, pattern: str) -> None:
        """Waits until the screen matches; the failure shows the screen."""
        try:
            eventually(lambda: self.shows(pattern), f"{pattern!r} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None


@contextmanager
def terminal(
    place: ThrowawayPlace, argv: Sequence[str], environment: dict[str, str]
) -> Iterator[Terminal]:
    """The program running in the work directory on a new terminal; ended with the block."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    line = shlex.join(argv)
    name = Path(argv[0]).name
    start = place.top / f"start-{name}.sh"
    place.write(start, f"cd {shlex.quote(str(place.work))}\nexec env -i {variables} {line}\n")
    opened = Terminal(place, name)
    opened.run(
        *("new-session", "-d", "-s", PANE, "-x", WIDTH, "-y", HEIGHT),
        *("sh", str(start)),
    )
    opened.run("set-option", "-t", PANE, "remain-on-exit", "on")
    try:
        yield opened
    finally:
        opened.run("kill-server")
