"""The languages of shells: each has a reader that makes a script of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from watchgate.core.policy.shell import powershell, reader
from watchgate.core.policy.shell.script import Notes, Script

Language = Literal["shell", "powershell"]


def read_in(
    language: Language, text: str, at: Sequence[int], notes: Notes, depth: int = 0
) -> Script:
    """The script of a text in a language.

    What cannot be read as PowerShell is opaque, and read as if another shell had it, so that
    whatever looks dangerous in it is found.

    Args:
        language: The shell's language.
        text: The text.
        at: The position of each of its characters in the original text.
        notes: The place for what is noticed on the way.
        depth: The depth of scripts in scripts.
    """
    if language == "shell":
        return reader.read(text, at, notes, depth)
    script, is_whole = powershell.read(text, at, notes, depth)
    if not is_whole:
        # There a backslash is no escape, but stands between folders.
        script.extend(reader.read(text.replace("\\", "/"), at, notes, depth))
    return script
