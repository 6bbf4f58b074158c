"""A file of code that is wholly ours: one of a plugin's."""

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
        """The file's own text, as its one entry."""
        return {"": [{"text": self._text}]}

    def ours(self, text: str) -> Table:
        """The text, where it is one of ours."""
        return {"": [{"text": text}]} if MARK in text else {}

    def install(self, text: str, _table: Table) -> str:
        """Our text; raises `FormError` over a file of somebody else."""
        if text.strip() and MARK not in text:
            raise FormError("this file is not one that watchgate wrote: move it away")
        return self._text

    def uninstall(self, text: str, before: str = "") -> str:
        """Nothing is left of a file of ours; another one stays as it is."""
        return before if MARK in text else text

    def displaced(self, _text: str) -> tuple[str, ...]:
        """None."""
        return ()

    def written(self, _table: Table) -> Iterator[Written]:
        """None: what the agent runs is code."""
        return iter(())
