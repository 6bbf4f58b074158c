"""A console that crashes: what it leaves in the shell, and what it does not.

Textual would print the local variables of every frame: whole commands with their secrets, and
whatever characters came with them. Where it failed and why is enough to tell.
"""

from __future__ import annotations

import traceback

from rich.text import Text
from textual.app import App

from watchgate.core.agent_state import WITHOUT_CORE
from watchgate.ui.covered import covered
from watchgate.ui.options import Options

CRASHED = (
    "watchgate: the console crashed, which is a fault of its own: please report the lines above"
)


class Crashing(App[str], inherit_bindings=False):
    """An app that tells of its own crash once the terminal is as it was before."""

    options: Options

    def _fatal_error(self) -> None:
        if self._exception is not None and not self._exit_renderables:
            self._exit_renderables.append(Text(report(self._exception, self.options)))
        self._close_messages_no_wait()


def report(error: BaseException, options: Options) -> str:
    """Returns where it failed and why, and last what goes on without the console."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    lines = [covered(line) for line in trace.split("\n")]
    return "\n".join([*lines, f"{CRASHED}; {_after(options)}"])


def _after(options: Options) -> str:
    if options.demo:
        return "the demo leaves nothing behind"
    if options.hosted:
        calls = WITHOUT_CORE["unknown"]
        return f"its core ended with it: {calls} until `watchgate` runs again"
    return "the core goes on, `watchgate` attaches again"
