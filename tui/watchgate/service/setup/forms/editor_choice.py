"""Edits files that are wholly ours, and chooses the editor for each form of hook file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.agents.base import Setup
from watchgate.service.setup.forms.form_editor import (
    Editor,
    FormError,
    FormHook,
    StatusLine,
    Table,
    WrittenEntry,
)
from watchgate.service.setup.forms.guarded_command import is_our_command
from watchgate.service.setup.forms.json_table import JsonTable
from watchgate.service.setup.forms.toml_edit import TomlTables

_HEAD = "#!/bin/sh\n"
_EXEC = "exec "


class ScriptEditor:
    """The editor of the script of one event."""

    def __init__(self, event: str = "") -> None:
        self._event = event

    def table(self, hooks: Sequence[FormHook]) -> Table:
        """Returns the one entry of this script's event."""
        return {hook.event: [{"command": hook.command}] for hook in hooks}

    def ours(self, text: str) -> Table:
        """Returns the script's one entry."""
        command = _command(text)
        return {} if command is None else {self._event: [{"command": command}]}

    def install(self, text: str, table: Table) -> str:
        """Returns the script; raises `FormError` over one of somebody else."""
        if text.strip() and _command(text) is None:
            raise FormError("this script is not ours, and the agent runs one for each event")
        [[item]] = table.values()
        return f"{_HEAD}{_EXEC}{item['command']}\n"

    def uninstall(self, text: str, before: str = "") -> str:
        """Returns nothing of a script of ours; another one as it is."""
        return before if _command(text) is not None else text

    def displaced(self, _text: str) -> tuple[str, ...]:
        """Returns none: there is one script for each event."""
        return ()

    def written(self, table: Table) -> Iterator[WrittenEntry]:
        """Yields each entry's command; the agent's limit is fixed."""
        for items in table.values():
            for item in items:
                yield WrittenEntry(item["command"], None)


def _command(text: str) -> str | None:
    if not text.startswith(f"{_HEAD}{_EXEC}"):
        return None
    command = text.removeprefix(f"{_HEAD}{_EXEC}").rstrip("\n")
    try:
        shlex.split(command)
    except ValueError:
        return None
    return command if is_our_command(command) else None


MARK: Final = "watchgate"
"""The word that every file of ours has somewhere, and nobody else's."""


class WholeFileEditor:
    """The editor of one file, which gets exactly this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def table(self, _hooks: Sequence[FormHook]) -> Table:
        """Returns the file's own text, as its one entry."""
        return {"": [{"text": self._text}]}

    def ours(self, text: str) -> Table:
        """Returns the text, where it is one of ours."""
        return {"": [{"text": text}]} if MARK in text else {}

    def install(self, text: str, _table: Table) -> str:
        """Returns our text; raises `FormError` over a file of somebody else."""
        if text.strip() and MARK not in text:
            raise FormError("this file is not one that watchgate wrote: move it away")
        return self._text

    def uninstall(self, text: str, before: str = "") -> str:
        """Returns nothing of a file of ours; another one as it is."""
        return before if MARK in text else text

    def displaced(self, _text: str) -> tuple[str, ...]:
        """Returns none."""
        return ()

    def written(self, _table: Table) -> Iterator[WrittenEntry]:
        """Yields none: what the agent runs is code."""
        return iter(())


def editor_of(
    setup: Setup, *, event: str = "", status_line: str = "", wish: StatusLine = "set"
) -> Editor:
    """Returns the editor of one file of this form; a script is that of one event.

    `status_line` is the command for the line that some agents show, `wish` what becomes of that.
    """
    if setup.form == "kimi":
        return TomlTables(setup)
    if setup.form == "scripts":
        return ScriptEditor(event)
    return JsonTable(setup, status_line, wish)
