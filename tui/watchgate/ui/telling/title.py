"""The terminal's title: what waits, for whoever looks at another window."""

from __future__ import annotations

SAVE = "\x1b[22;0t"
RESTORE = "\x1b[23;0t"
CLEAR = "\x1b[2J"
"""Empties the screen that is left: tmux, grown meanwhile, would show some of it above the shell."""


def title(pending: int, *, lost: bool, off: bool) -> str:
    """The title of a moment; nothing in it comes from an agent."""
    if lost:
        return "watchgate: core lost"
    if off:
        return "watchgate: GATE OFF"
    return f"({pending}) watchgate" if pending else "watchgate"


def set_title(words: str) -> str:
    """Returns what makes a terminal show a title."""
    return f"\x1b]0;{words}\x07"
