"""Edits a TOML text in place: finds its tables and values, and sets one value; all else stays.

Edited as text, as a TOML library puts a new key between a comment and the table that it is
about.

- Hooks in TOML: `[[hooks]]` tables of event, matcher, command and timeout, as Kimi reads them.
  Edited as text: a TOML library would write the file anew, move tables that stand apart together
  and end its own lines in another way than the file's.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from watchgate.agents.base import Setup
from watchgate.core.base.config_text import toml_key, toml_pair, toml_value
from watchgate.service.setup.forms.form_editor import (
    FormError,
    FormHook,
    Item,
    Table,
    WrittenEntry,
    timeout,
    timeout_s,
)
from watchgate.service.setup.forms.guarded_command import is_our_command

_NAME: Final = re.compile(r"""\[\[\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\]\]""")
_PART: Final = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3,5}|' + r"'{3}.*?'{3,5}"  # several lines
    r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


class TomlHeader(msgspec.Struct, frozen=True):
    """One `[table]` or `[[array of tables]]`: where its line begins, and the array's name."""

    start: int
    array: str


class TomlPair(msgspec.Struct, frozen=True):
    """One `key = value`: its dotted key, and where its value begins and ends."""

    path: tuple[str, ...]
    value: int
    end: int


class TomlSection(msgspec.Struct, frozen=True):
    """The pairs below one header, or above the first: `array` says that the header is of one.

    Its pairs may begin at `start_of_pairs`; it ends before the next header.
    """

    path: tuple[str, ...]
    array: bool
    start_of_pairs: int
    end: int
    pairs: tuple[TomlPair, ...]


def headers(text: str) -> Iterator[TomlHeader]:
    """Yields every header of a valid TOML text, in order; brackets in strings are none."""
    for start, _ in _statements(text):
        if text[start] == "[":
            name = _NAME.match(text, start)
            array = next((each for each in name.groups() if each is not None), "") if name else ""
            yield TomlHeader(text.rfind("\n", 0, start) + 1, array)


def sections(text: str) -> list[TomlSection]:
    """Returns every section of a valid TOML text, in order; the first is above all headers."""
    sections_so_far = [TomlSection((), False, 0, len(text), ())]
    for start, end in _statements(text):
        last = sections_so_far[-1]
        if text[start] == "[":
            line = text.rfind("\n", 0, start) + 1
            sections_so_far[-1] = msgspec.structs.replace(last, end=line)
            array = text.startswith("[[", start)
            sections_so_far.append(TomlSection(_path(text[start:end]), array, end, len(text), ()))
            continue
        equals = _equals(text, start)
        value = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
        pair = TomlPair(_path(f"{text[start:equals]}= 0"), value, end)
        sections_so_far[-1] = msgspec.structs.replace(last, pairs=(*last.pairs, pair))
    return sections_so_far


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yields where each header and each pair begins and ends, without a comment behind it."""
    depth, at, start, end = 0, 0, -1, 0
    while match := _PART.match(text, at):
        part = match.group()
        if depth == 0 and start >= 0 and (part == "\n" or part.startswith("#")):
            yield start, end
            start = -1
        elif part.strip() and not part.startswith("#"):
            if start < 0:
                start = at + len(part) - len(part.lstrip())
            end = at + len(part.rstrip())
            depth += (part in ("[", "{")) - (part in ("]", "}"))
        at = match.end()
    if start >= 0:
        yield start, end


def _equals(text: str, at: int) -> int:
    """Returns the place of the equals sign behind a key, which may have some in quotes."""
    while match := _PART.match(text, at):
        if match.group()[0] not in "\"'" and "=" in match.group():
            return at + match.group().index("=")
        at = match.end()
    raise ValueError("a key without a value")


def _path(line: str) -> tuple[str, ...]:
    """Returns the dotted key of one header or pair."""
    level: Any = tomllib.loads(line)
    path = []
    while isinstance(level, dict) and level:
        [(name, level)] = level.items()
        path.append(name)
        level = level[0] if isinstance(level, list) else level
    return tuple(path)


HOOKS: Final = "hooks"
_EMPTY: Final = re.compile(r"^hooks[ \t]*=[ \t]*\[[ \t]*\]", re.MULTILINE)
_BLANK: Final = re.compile(r"(?<=\n)\r?\n\Z")
_ASIDE: Final = "# watchgate, until it is uninstalled: "


class OwnTable(msgspec.Struct, frozen=True):
    """One of our tables: its place, with the empty line before it, and its content."""

    start: int
    end: int
    item: Item


class TomlTables:
    """The editor for one agent's TOML file."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def table(self, hooks: Sequence[FormHook]) -> Table:
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

    def written(self, table: Table) -> Iterator[WrittenEntry]:
        """Yields each entry's command and limit."""
        for item in (each for items in table.values() for each in items):
            yield WrittenEntry(item["command"], timeout_s(self._setup, item))


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormError(str(error)) from error


def _blocks(text: str) -> tuple[list[OwnTable], int]:
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
        if isinstance(item, dict) and is_our_command(item.get("command")):
            # The empty line that we wrote before it goes with it.
            blank = _BLANK.search(text[:start])
            start = blank.start() if blank else start
            blocks.append(OwnTable(start, behind, item))
    return blocks, behind


def _body(table: str) -> str:
    """Returns a table without the comments and empty lines behind its last key."""
    lines = re.split(r"(?<=\n)", table)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines)


def _cut(text: str, blocks: Sequence[OwnTable]) -> str:
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


Key = tuple[str, ...]


def with_value(text: str, key: Key, value: object) -> str:
    """Returns the text with this value at this key; raises `FormError` if that takes a person.

    The text has to be valid TOML. The result is read again: nothing but that value may differ.
    """
    value = list(value) if isinstance(value, tuple) else value
    if not _can_be_written(value):
        raise FormError(f"{'.'.join(key)}: TOML cannot hold this value")
    values = tomllib.loads(text)
    wanted = _merged(values, key, value)
    if _same(wanted, values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    edited = _edited(text, key, value, newline)
    try:
        right = _same(tomllib.loads(edited), wanted)
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise FormError(f"{'.'.join(key)} cannot be set as this file is written: edit it by hand")
    return edited


def _can_be_written(value: object) -> bool:
    try:
        return _same(tomllib.loads(toml_pair(["value"], value)), {"value": value})
    except (TypeError, ValueError, RecursionError):
        return False


def _same(one: object, other: object) -> bool:
    """Returns whether two values are one in TOML, where 1 is not true and nan is nan."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def _merged(values: Mapping[str, Any], key: Key, value: object) -> dict[str, Any]:
    name, *rest = key
    if not rest:
        if isinstance(values.get(name), dict) and not isinstance(value, dict):
            raise FormError(f"{name} is a table: name one of its keys, as in {name}.KEY")
        return {**values, name: value}
    below = values.get(name, {})
    if not isinstance(below, dict):
        what = "a list" if isinstance(below, list) else "a single value"
        raise FormError(f"{name} is {what}, so it has no key {'.'.join(rest)}: edit it by hand")
    return {**values, name: _merged(below, tuple(rest), value)}


def _edited(text: str, key: Key, value: object, newline: str) -> str:
    reachable = _reachable(sections(text))
    pairs = [(section.path + pair.path, pair) for section in reachable for pair in section.pairs]
    for path, pair in pairs:
        if key[: len(path)] == path:
            if len(path) < len(key):
                inline = tomllib.loads(f"inline = {text[pair.value : pair.end]}")["inline"]
                return _replaced(text, pair, _merged(inline, key[len(path) :], value))
            return _replaced(text, pair, value)
    table = key[:-1]
    for section in reachable:
        behind = section.pairs[-1].end if section.pairs else section.start_of_pairs
        if section.path == table and (section.path or section.pairs):
            return _inserted(text, behind, key[-1:], value, newline)
        # A table that only keys with dots in them make can have no header of its own.
        dotted = [pair for pair in section.pairs if (section.path + pair.path)[:-1] == table]
        if dotted:
            path = key[len(section.path) :]
            return _inserted(text, dotted[-1].end, path, value, newline)
    if not table:
        return _at_the_top(text, reachable[0], toml_pair(key, value), newline)
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}[{toml_key(table)}]{newline}{toml_pair(key[-1:], value)}{newline}"


def _reachable(every_section: Sequence[TomlSection]) -> list[TomlSection]:
    """Returns the sections that a dotted key leads to: none in an array of tables."""
    arrays = [section.path for section in every_section if section.array]
    return [
        section
        for section in every_section
        if not any(section.path[: len(array)] == array for array in arrays)
    ]


def _replaced(text: str, pair: TomlPair, value: object) -> str:
    return text[: pair.value] + toml_value(value) + text[pair.end :]


def _inserted(text: str, behind: int, path: Key, value: object, newline: str) -> str:
    """Adds a line below the one that this place is in.

    Args:
        text: The whole text.
        behind: A place in the line before.
        path: The dotted key.
        value: The value.
        newline: The line ending of the text.
    """
    end = text.find("\n", behind)
    if end < 0:
        return f"{text}{newline}{toml_pair(path, value)}{newline}"
    return f"{text[: end + 1]}{toml_pair(path, value)}{newline}{text[end + 1 :]}"


def _at_the_top(text: str, top: TomlSection, line: str, newline: str) -> str:
    """Adds the first key of a text: below a comment that is about the whole file."""
    blank = newline * 2
    head = text[: top.end]
    above, between, below = head.partition(blank)
    if between and above.startswith("#"):
        return f"{above}{blank}{line}{blank}{below.lstrip()}{text[top.end :]}"
    return f"{line}{newline}{newline if text.strip() else ''}{text}"
