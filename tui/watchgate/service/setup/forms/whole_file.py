"""Edits files that are wholly ours, and chooses the editor for each form of hook file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.service.setup.forms.editor import FormError, Hook, Table, Written

MARK: Final = "watchgate"
"""What every file of ours names somewhere, and nobody else's."""


class WholeFile:
    """The editor of one file, which gets exactly this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def table(self, _hooks: Sequence[Hook]) -> Table:
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

    def written(self, _table: Table) -> Iterator[Written]:
        """Yields none: what the agent runs is code."""
        return iter(())
