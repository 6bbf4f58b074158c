"""Signals that end a console: it leaves as by its key, so that the terminal is as it was before."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""A request to end, and a terminal that is gone."""


@contextmanager
def ended_by_signals(app: App[Any]) -> Iterator[None]:
    """Let these signals end the app, with the exit code of a process that died of one.

    A signal that comes once more, or before the app runs, ends the process at once.
    """

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        if app.is_running:
            app.exit(return_code=128 + number)
        else:
            os.kill(os.getpid(), number)

    before = {number: signal.signal(number, end) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
