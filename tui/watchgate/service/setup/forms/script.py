"""Edits files that are wholly ours, and chooses the editor for each form of hook file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from watchgate.service.setup.command import is_ours
from watchgate.service.setup.forms.editor import FormError, Hook, Table, Written

_HEAD = "#!/bin/sh\n"
_EXEC = "exec "


class Script:
    """The editor of the script of one event."""

    def __init__(self, event: str = "") -> None:
        self._event = event

    def table(self, hooks: Sequence[Hook]) -> Table:
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

    def written(self, table: Table) -> Iterator[Written]:
        """Yields each entry's command; the agent's limit is fixed."""
        for items in table.values():
            for item in items:
                yield Written(item["command"], None)


def _command(text: str) -> str | None:
    if not text.startswith(f"{_HEAD}{_EXEC}"):
        return None
    command = text.removeprefix(f"{_HEAD}{_EXEC}").rstrip("\n")
    try:
        shlex.split(command)
    except ValueError:
        return None
    return command if is_ours(command) else None
