"""Textual's driver for a terminal that may be gone at any moment, or shows ASCII alone.

A terminal that hung up reads as an end of file for ever and fails every write. Textual's writing
thread ends at such a failure, and the console then waits for ever for room in that thread's queue.
"""

from __future__ import annotations

import select
from contextlib import suppress
from io import TextIOWrapper
from typing import IO, cast

from rich.segment import Segment
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.color import Color
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.filter import LineFilter
from textual.message import Message

from watchgate.ui.base.ascii_only import ascii_cells

LOOK_EACH_S = 1.0
HANGUP_EXIT = 128 + 1
"""The exit code of a process that SIGHUP ended."""


def hung_up(descriptor: int) -> bool:
    """Returns whether nobody holds the other end of this terminal."""
    look = select.poll()
    look.register(descriptor, 0)
    return any(events & (select.POLLHUP | select.POLLNVAL) for _, events in look.poll(0))


class LastingFile:
    """A text file for the driver's writing thread; what a lost terminal cannot take is dropped."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Writes the text, or nothing where nobody is left to read it."""
        with suppress(OSError):
            return self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Sends what was written, if there is still somebody to send it to."""
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        """The terminal's descriptor."""
        return self._file.fileno()


def unlearn_mac_keys() -> None:
    """Has the parser of keys read Escape and a digit as two keys, not as a character of a Mac.

    A Mac sends its signs as themselves.
    """
    known = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for key in "0123456789-=":
        known.pop(f"\x1b{key}", None)


def keys_of(message: Message) -> tuple[Message, ...]:
    """Splits Escape and the key pressed soon after it, which terminals send as one with Alt.

    No key of the console has Alt.
    """
    if not isinstance(message, Key) or not message.key.startswith("alt+"):
        return (message,)
    return Key("escape", "\x1b"), Key(message.key.removeprefix("alt+"), message.character)


class TerminalDriver(LinuxDriver):
    """Textual's own driver, which a terminal that hung up neither stops nor starts again."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast("TextIOWrapper", LastingFile(cast("IO[str]", self._file)))
        unlearn_mac_keys()

    def process_message(self, message: Message) -> None:
        """Sends a message to the app, keys one by one."""
        for each in keys_of(message):
            super().process_message(each)

    def _sigcont_application(self, *received: object) -> None:
        # The system sends it together with SIGHUP; another writing thread would be left behind.
        if not hung_up(self.fileno):
            super()._sigcont_application(*received)

    def run_input_thread(self) -> None:
        """Reads keys until the console ends or its terminal does."""
        with suppress(OSError):
            super().run_input_thread()


def end_with_terminal(app: App[str], driver: Driver | None) -> None:
    """Ends the app once its terminal is gone: not every such end sends a signal."""
    if not isinstance(driver, TerminalDriver):
        return  # drawn for a test

    def look() -> None:
        if hung_up(driver.fileno):
            app.exit(return_code=HANGUP_EXIT)

    app.set_interval(LOOK_EACH_S, look)


class AsciiLines(LineFilter):
    """Keeps all but ASCII from being painted; every cell stays one cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line in ASCII."""
        return [
            segment
            if segment.text.isascii()
            else Segment(ascii_cells(segment.text), segment.style, segment.control)
            for segment in segments
        ]
