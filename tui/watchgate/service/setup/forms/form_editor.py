"""The interface of the editors of all forms of hook files: they edit a text, never a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from watchgate.agents.base import Setup

Item = dict[str, Any]
Table = Mapping[str, Sequence[Item]]
"""The entries of a file by event, each as the agent reads it."""

StatusLine = Literal["set", "keep", "remove"]
"""The fate of our status line: set where there is none, kept up to date, or taken out."""


class FormError(ValueError):
    """The text has another form than the agent reads; the message says where and what."""


class FormHook(msgspec.Struct, frozen=True, kw_only=True):
    """One entry before it is put into a form; `closes` where its failure denies."""

    event: str
    command: str
    timeout_s: int
    matcher: str | None = None
    status: str | None = None
    closes: bool = False


class WrittenEntry(msgspec.Struct, frozen=True):
    """The content of an entry: its command, and the agent's limit (None: not written)."""

    command: str
    timeout_s: float | None


class Editor(Protocol):
    """Our entries among those of others. Every method that reads a text raises `FormError`."""

    def table(self, hooks: Sequence[FormHook], /) -> Table:
        """Returns these entries as they are written."""
        ...

    def ours(self, text: str, /) -> Table:
        """Returns our entries in a text."""
        ...

    def install(self, text: str, table: Table, /) -> str:
        """Returns the text with exactly these entries of ours; itself when it has them already."""
        ...

    def uninstall(self, text: str, before: str = "", /) -> str:
        """Returns the text without our entries; what they leave empty goes unless in `before`."""
        ...

    def displaced(self, text: str, /) -> tuple[str, ...]:
        """Returns events where an entry of others is behind ours and would move up."""
        ...

    def written(self, table: Table, /) -> Iterator[WrittenEntry]:
        """Yields each entry's command and limit."""
        ...


def timeout(setup: Setup, timeout_s: int) -> dict[str, int]:
    """Returns the limit as this agent reads it, in whole units.

    Codex drops a file with a fraction in it.
    """
    if not setup.timeout_key:
        return {}
    return {setup.timeout_key: timeout_s * (1000 if setup.unit == "ms" else 1)}


def timeout_s(setup: Setup, item: Item) -> float | None:
    """Returns the limit in an entry, in seconds."""
    limit = item.get(setup.timeout_key) if setup.timeout_key else None
    if not isinstance(limit, int | float):
        return None
    return limit / 1000 if setup.unit == "ms" else float(limit)
