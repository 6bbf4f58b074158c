"""A word that a person types at a terminal; commands that loosen the gate ask for one."""

from __future__ import annotations

import sys

from watchgate.cli.exits import Exit, Stop


def needs_terminal(otherwise: str) -> None:
    """End the command with this text unless a person sits at both ends of it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Stop(otherwise, Exit.USAGE)


def typed(prompt: str) -> str:
    """What was typed, without blanks around it; nothing at the end of input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return ""
