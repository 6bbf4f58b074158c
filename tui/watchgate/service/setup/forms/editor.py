"""What the editor of every form of hook file can do: to a text, never to a file."""

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


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One entry before it is put into a form; `closes` where its failure denies."""

    event: str
    command: str
    timeout_s: int
    matcher: str | None = None
    status: str | None = None
    closes: bool = False


class Written(msgspec.Struct, frozen=True):
    """What stands in an entry: its command, and how long the agent waits (None: not written)."""

    command: str
    timeout_s: float | None


class Editor(Protocol):
    """Our entries among those of others. Every method that reads a text raises `FormError`."""

    def table(self, hooks: Sequence[Hook], /) -> Table:
        """These entries as they are written."""
        ...

    def ours(self, text: str, /) -> Table:
        """Our entries in a text."""
        ...

    def install(self, text: str, table: Table, /) -> str:
        """The text with exactly these entries of ours; the same text when it has them already."""
        ...

    def uninstall(self, text: str, before: str = "", /) -> str:
        """The text without any entry of ours; what they leave empty goes unless `before` had it."""
        ...

    def displaced(self, text: str, /) -> tuple[str, ...]:
        """Events where an entry of others stands behind one of ours and would move up."""
        ...

    def written(self, table: Table, /) -> Iterator[Written]:
        """Each entry's command and limit."""
        ...


def timeout(setup: Setup, timeout_s: int) -> dict[str, int]:
    """The limit as this agent reads it, in whole units: Codex drops a file with a fraction."""
    if not setup.timeout_key:
        return {}
    return {setup.timeout_key: timeout_s * (1000 if setup.unit == "ms" else 1)}


def timeout_s(setup: Setup, item: Item) -> float | None:
    """The limit that stands in an entry, in seconds."""
    found = item.get(setup.timeout_key) if setup.timeout_key else None
    if not isinstance(found, int | float):
        return None
    return found / 1000 if setup.unit == "ms" else float(found)
