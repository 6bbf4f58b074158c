"""Hooks in TOML: `[[hooks]]` tables of event, matcher, command and timeout, as Kimi reads them.

Edited as text: a TOML library would write the file anew, move tables that stand apart together and
end its own lines in another way than the file's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from watchgate.agents.base import Setup
from watchgate.core.toml_text import toml_pair
from watchgate.service.setup.command import is_ours
from watchgate.service.setup.forms.editor import (
    FormError,
    Hook,
    Item,
    Table,
    Written,
    timeout,
    timeout_s,
)
from watchgate.service.setup.forms.toml_scan import headers

HOOKS: Final = "hooks"
_EMPTY: Final = re.compile(r"^hooks[ \t]*=[ \t]*\[[ \t]*\]", re.MULTILINE)
_BLANK: Final = re.compile(r"(?<=\n)\r?\n\Z")
_ASIDE: Final = "# watchgate, until it is uninstalled: "


class Block(msgspec.Struct, frozen=True):
    """One of our tables: its place, with the empty line before it, and its content."""

    start: int
    end: int
    item: Item


class TomlTables:
    """The editor for one agent's TOML file."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def table(self, hooks: Sequence[Hook]) -> Table:
        """Returns these entries as they are written."""
        table: dict[str, list[Item]] = {}
        for hook in hooks:
            item: Item = {"event": hook.event}
            if hook.matcher is not None:
                item["matcher"] = hook.matcher
            item |= {"command": hook.command, **timeout(self._setup, hook.timeout_s)}
            table.setdefault(hook.event, []).append(item)
        return table

    def ours(self, text: str) -> Table:
        """Returns our entries in a text, by event."""
        table: dict[str, list[Item]] = {}
        for block in _blocks(text)[0]:
            table.setdefault(str(block.item.get("event")), []).append(block.item)
        return table

    def install(self, text: str, table: Table) -> str:
        """Returns the text with exactly these tables of ours, behind the last of others."""
        wanted = [item for items in table.values() for item in items]
        blocks, end = _blocks(text)
        if [block.item for block in blocks] == wanted:
            return text
        text = _set_aside(_cut(text, blocks))
        _, end = _blocks(text)
        newline = "\r\n" if "\r\n" in text else "\n"
        head, rest = text[:end], text[end:]
        added = newline.join(_lines(item, newline) for item in wanted)
        if head:
            added = f"{newline}{added}"
        if head and not head.endswith("\n"):
            added = f"{newline}{added.removesuffix(newline)}"
        return _checked(f"{head}{added}{rest}")

    def uninstall(self, text: str, _before: str = "") -> str:
        """Returns the text without any table of ours."""
        text = _cut(text, _blocks(text)[0])
        return text if HOOKS in _load(text) else text.replace(_ASIDE, "", 1)

    def displaced(self, _text: str) -> tuple[str, ...]:
        """Returns none: nothing depends on the position of a table."""
        return ()

    def written(self, table: Table) -> Iterator[Written]:
        """Yields each entry's command and limit."""
        for item in (each for items in table.values() for each in items):
            yield Written(item["command"], timeout_s(self._setup, item))


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormError(str(error)) from error


def _blocks(text: str) -> tuple[list[Block], int]:
    """Returns our tables in order, and the place behind the last `[[hooks]]`, else the end."""
    hooks = _load(text).get(HOOKS, [])
    all_headers = list(headers(text))
    places = [at for at, header in enumerate(all_headers) if header.array == HOOKS]
    if not isinstance(hooks, list) or len(hooks) != len(places):
        raise FormError("hooks are not written as [[hooks]] tables: write them so")
    blocks, behind = [], len(text)
    for at, item in zip(places, hooks, strict=True):
        start = all_headers[at].start
        limit = all_headers[at + 1].start if at + 1 < len(all_headers) else len(text)
        behind = start + len(_body(text[start:limit]))
        if isinstance(item, dict) and is_ours(item.get("command")):
            # The empty line that we wrote before it goes with it.
            blank = _BLANK.search(text[:start])
            start = blank.start() if blank else start
            blocks.append(Block(start, behind, item))
    return blocks, behind


def _body(table: str) -> str:
    """Returns a table without the comments and empty lines behind its last key."""
    lines = re.split(r"(?<=\n)", table)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines)


def _cut(text: str, blocks: Sequence[Block]) -> str:
    at_end = bool(blocks) and blocks[-1].end == len(text) and not text.endswith("\n")
    for block in reversed(blocks):
        text = text[: block.start] + text[block.end :]
    # A file without a final newline got one before ours.
    return text.removesuffix("\n").removesuffix("\r") if at_end else text


def _set_aside(text: str) -> str:
    """Turns an empty inline `hooks = []`, beside which no table may stand, into a comment."""
    first = next(headers(text), None)
    top = text[: first.start] if first else text
    return _EMPTY.sub(lambda match: _ASIDE + match.group(), top, count=1) + text[len(top) :]


def _checked(text: str) -> str:
    _blocks(text)
    return text


def _lines(item: Item, newline: str) -> str:
    """Writes one table."""
    keys = [toml_pair([key], value) for key, value in item.items()]
    return "".join(f"{line}{newline}" for line in [f"[[{HOOKS}]]", *keys])
