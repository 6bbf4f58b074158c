"""Errors in a configuration: where the fault is, what is allowed there, and what was meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

_FAULT = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(?P<key>.*)`")
_MISSING = re.compile(r"missing required field `(?P<key>.*)`")
_TABLE = re.compile(r"^\s*\[+\s*([^]]+?)\s*]+")
_KEY = re.compile(r"^\s*([\w.\"' -]+?)\s*=")
_PLAIN = {
    "int": "a whole number",
    "str": "a text",
    "object": "a table",
    "bool": "true or false",
    "float": "a number with a fraction",
    "array": "a list",
    "date": "a date",
    "datetime": "a date",
    "time": "a time",
}


class ConfigError(ValueError):
    """The configuration cannot be used; the message says where and what is allowed instead."""


class Source(msgspec.Struct, frozen=True):
    """A configuration's text and the name of the file that it came from."""

    text: str
    origin: str

    def place(self, key: str) -> str:
        """`file:line` of a dotted key, or of the table or inline table that holds it."""
        key, table = key.partition("[")[0], ""
        best = (0, 0)
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _TABLE.match(line):
                table = _bare(header.group(1))
                full = table
            elif pair := _KEY.match(line):
                full = ".".join(filter(None, (table, _bare(pair.group(1)))))
            else:
                continue
            if (key + ".").startswith(full + ".") and len(full) > best[0]:
                best = (len(full), number)
        return f"{self.origin}:{best[1]}" if best[1] else self.origin

    def entry(self, table: str, index: int) -> Source:
        """The same text with only one of the `[[table]]` entries left, in its own lines."""
        lines: list[str] = []
        entry_index = -1
        inside = False
        for line in self.text.splitlines():
            if header := _TABLE.match(line):
                name = _bare(header.group(1))
                if name == table:
                    entry_index += 1
                inside = name == table or name.startswith(f"{table}.")
            lines.append(line if inside and entry_index == index else "")
        return Source("\n".join(lines), self.origin)

    def error(self, key: str, message: str) -> ConfigError:
        """An error about a key, with the place where it is set."""
        return ConfigError(f"{self.place(key)}: {message}")


def explain(
    fault: msgspec.ValidationError, root: type[Any], source: Source, table: str = ""
) -> ConfigError:
    """A validation fault in the words of the configuration; `table` is the root's own place."""
    match = _FAULT.match(str(fault))
    what, path = (match.group("what"), match.group("path") or "") if match else (str(fault), "")
    path = path.removesuffix("[...]")
    holder = _type_at(root, path)
    path = ".".join(filter(None, (table, path)))
    if unknown := _UNKNOWN.search(what):
        return _unknown_key(unknown.group("key"), path, holder, source)
    if missing := _MISSING.search(what):
        full = ".".join(filter(None, (path, missing.group("key"))))
        return source.error(path, f"{full} is missing; add it")
    return source.error(path, f"{path}: {_wrong_value(what, holder)}")


def _unknown_key(key: str, path: str, holder: Any, source: Source) -> ConfigError:
    full = f"{path}.{key}" if path else key
    allowed = [field.name for field in msgspec.structs.fields(holder)]
    where = f"in [{path}]" if path else "at the top"
    hint = _closest(key, allowed)
    return source.error(
        full, f"unknown key {full};{hint} allowed {where}: {', '.join(sorted(allowed))}"
    )


def _wrong_value(what: str, holder: Any) -> str:
    holder = _closed(holder)
    if get_origin(holder) is Literal:
        allowed = [str(value) for value in get_args(holder)]
        wrong = re.search(r"enum value '(.*)'", what)
        hint = _closest(wrong.group(1), allowed) if wrong else ""
        problem = f"{wrong.group(1)!r} is not allowed;" if wrong else "expected a text;"
        return f"{problem}{hint} allowed: {', '.join(allowed)}"
    for name, plain in _PLAIN.items():
        what = what.replace(f"`{name}`", plain)
    return what[:1].lower() + what[1:]


def _closed(holder: Any) -> Any:
    """The words that are allowed, also where none or a list of them may stand."""
    return next(
        (each for each in (holder, *get_args(holder)) if get_origin(each) is Literal), holder
    )


def _closest(word: str, allowed: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, allowed, n=1)
    return f" did you mean {close[0]}?" if close else ""


def _type_at(root: type[Any], path: str) -> Any:
    """The type that a dotted path leads to, with constraints taken off."""
    field_type: Any = root
    for name in filter(None, path.split(".")):
        if not _is_table(field_type):
            break
        field_type = get_type_hints(field_type).get(name.partition("[")[0])
        # A table that may be left out is still one where it is given.
        field_type = next((each for each in get_args(field_type) if _is_table(each)), field_type)
    return field_type


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _bare(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
