"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from collections.abc import Callable

from watchgate.ui.formats import person
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.awaiting_prompt import AwaitingPrompt

HALF = 3


class CodePrompt(AwaitingPrompt):
    """Shows six digits and where to type them, until `until_s` on the clock `now_s`."""

    def __init__(
        self,
        code: str,
        why: str,
        until_s: float,
        now_s: Callable[[], float],
        shows_request: Callable[[], bool],
    ) -> None:
        """Shows a code.

        Args:
            code: Six digits.
            why: The reason why the terminal is locked, or empty.
            until_s: The end of the code on the clock `now_s` (seconds).
            now_s: Reads that clock.
            shows_request: Returns whether a request is shown.
        """
        self._digits = f"{code[:HALF]} {code[HALF:]}"
        where = (
            f"Type it in a clear terminal, as watchgate unlock {code}, or in its console: "
            "the command :unlock another."
        )
        locked = f"Locked: {why}." if why else ""
        saves = "`watchgate pin set` there saves you this from now on."
        super().__init__(shows_request, where, locked, saves)
        self._until_s = until_s
        self._now_s = now_s

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.redraw)

    def draw_first(self, cells: int) -> Line:
        line = self.line().add("  unlock this terminal, its code: ", bold=True)
        left_s = self._until_s - self._now_s()
        if left_s <= 0:
            return line.add(f"it has run out, {key_for('unlock')} asks for a new one", bold=True)
        line.add(f" {self._digits} ", "bg", on="accent", bold=True)
        return line.right(f"for {person(left_s)} ", "dim")
