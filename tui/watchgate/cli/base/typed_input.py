"""Words typed at a terminal: one that loosens the gate, a secret, a `yes` by hand."""

from __future__ import annotations

import os
import sys
import termios
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from watchgate.cli.base.printing import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchgate.ui.approval.arming import Ask, Commit
    from watchgate.ui.approval.typed_yes import PromptClosed

DRAWN_S = 0.6
"""Seconds that a request stands on the screen before a word is taken, as on the console."""

_LEAVES = ("", "\x04", "\x1b")
"""The end of input, ctrl+d and Esc."""

_KEYS_BYTES = 4096


def at_terminal() -> bool:
    """Tells whether a person can sit at both ends of this command."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def needs_terminal(otherwise: str) -> None:
    """Ends the command with this text unless a person sits at both ends of it."""
    if not at_terminal():
        raise Stop(otherwise, Exit.USAGE)


def typed(prompt: str) -> str:
    """Returns the typed line, without blanks around it; empty at the end of input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return ""


def typed_now(prompt: str) -> str:
    """As `typed`, of what is typed from now on: what was typed ahead, or pasted, is dropped."""
    _drop_ahead()
    return typed(prompt)


def typed_secret(prompt: str) -> str:
    """Returns the line that was typed without being shown; empty at the end of input.

    It is read from a terminal alone: no argument, variable or pipe is looked at.
    """
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt)
        except EOFError:
            print()
            return ""
        except getpass.GetPassWarning:
            raise Stop("this terminal cannot hide what is typed: use another", Exit.USAGE) from None


def stood() -> None:
    """Lets what was printed last stand for a moment, before anybody is asked about it."""
    time.sleep(DRAWN_S)
    _drop_ahead()


def typed_by_hand(ask: Ask, prompt: str) -> Commit | None:
    """The word `yes` typed letter by letter, or `d` for a denial; None when it was left.

    A paste, letters faster than a hand, and keys that follow the word count for nothing, by the
    rules of the console.
    """
    import select

    from watchgate.ui.approval.arming import Commit, Explain
    from watchgate.ui.approval.typed_yes import TypedYes

    reading = TypedYes(ask)
    with _each_key() as descriptor:
        print(prompt, end="", flush=True)
        while True:
            due = reading.next_due
            wait_s = None if due is None else max(0.0, due - time.monotonic())
            answer: PromptClosed | Commit | Explain | None
            if select.select([descriptor], [], [], wait_s)[0]:
                keys = _read(descriptor)
                if keys in _LEAVES:
                    print()
                    return None
                now = time.monotonic()
                name = "backspace" if keys in ("\x7f", "\b") else keys
                answer = reading.key(name, now) if len(keys) == 1 else reading.paste(now)
            else:
                answer = reading.due(time.monotonic(), ask.request)
            if isinstance(answer, Commit):
                print()
                return answer
            reply = f"\n{answer.text}\n" if isinstance(answer, Explain) else ""
            print(f"{reply}\r{prompt}{reading.typed}\x1b[K", end="", flush=True)


def _read(descriptor: int) -> str:
    """The keys that were pressed; none where the terminal is gone."""
    try:
        return os.read(descriptor, _KEYS_BYTES).decode(errors="replace")
    except OSError:
        return ""


@contextmanager
def _each_key() -> Iterator[int]:
    """The terminal's descriptor, giving each key at once and echoing none."""
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _drop_ahead() -> None:
    with suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
