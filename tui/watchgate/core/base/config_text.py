"""TOML of a configuration: its values, or an error with the line and column of the fault.

- Errors in a configuration: where the fault is, what is allowed there, and what was meant.
- Values as they are written in TOML: what is read again is what was meant, and can be seen.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import date, time
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from watchgate.core.base.text import hidden_spans

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


class ConfigSource(msgspec.Struct, frozen=True):
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

    def entry(self, table: str, index: int) -> ConfigSource:
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
        return ConfigSource("\n".join(lines), self.origin)

    def error(self, key: str, message: str) -> ConfigError:
        """An error about a key, with the place where it is set."""
        return ConfigError(f"{self.place(key)}: {message}")


def explain(
    fault: msgspec.ValidationError, root: type[Any], source: ConfigSource, table: str = ""
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


def _unknown_key(key: str, path: str, holder: Any, source: ConfigSource) -> ConfigError:
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


_BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def toml_value(value: object) -> str:
    """A value in TOML, on one line; raises `TypeError` or `ValueError` where it has none there."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(toml_pair((str(name),), each) for name, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"TOML has no {type(value).__name__}")


def toml_pair(path: Iterable[str], value: object) -> str:
    """A dotted key and its value."""
    return f"{toml_key(path)} = {toml_value(value)}"


def toml_key(path: Iterable[str]) -> str:
    """A dotted key, its parts in quotes where they need some."""
    return ".".join(part if part and _BARE.issuperset(part) else _quoted(part) for part in path)


def _quoted(text: str) -> str:
    """A text of JSON, which is one of TOML once nothing that cannot be seen stands bare in it."""
    bare, done = msgspec.json.encode(text).decode(), 0
    parts = []
    for start, end in hidden_spans(bare):
        code = ord(bare[start])
        parts += [bare[done:start], f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"]
        done = end
    return "".join([*parts, bare[done:]])


# Each line looked at is one more reading of the text before it.
_LOOKED_BACK_LINES = 50

_POSITION = re.compile(r" \(at line (\d+), column (\d+)\)$")
_AT_END = " (at end of document)"


def parse(source: ConfigSource) -> dict[str, Any]:
    """The values of a text; raises `ConfigError`."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as fault:
        raise _located(str(fault), source) from None
    except RecursionError:
        raise _unplaced("a value is nested too deeply", source) from None
    except ValueError as fault:
        # Of the parser's own calls, such as a number with too many digits.
        raise _unplaced(str(fault), source) from None


def _located(fault: str, source: ConfigSource) -> ConfigError:
    if position := _POSITION.search(fault):
        line, column = int(position[1]), int(position[2])
        return _error(fault[: position.start()], line, source, f"line {line}, column {column}")
    line = source.text.count("\n") + 1
    column = len(source.text.rpartition("\n")[2]) + 1
    what, begins = fault.removesuffix(_AT_END), _begins(source.text) or line
    where = f"line {line}, column {column}"
    if begins != line:
        where = f"begins at line {begins}, column 1, and the file ends at {where}"
    return _error(what, begins, source, where)


def _begins(text: str) -> int | None:
    """The line from which everything to the end belongs to something that is not closed."""
    lines = text.splitlines(keepends=True)
    for count in range(len(lines) - 1, max(-1, len(lines) - 1 - _LOOKED_BACK_LINES), -1):
        if _fault_of(lines, count) is None:
            return count + 1
    return None


def _unplaced(what: str, source: ConfigSource) -> ConfigError:
    """A fault that the parser does not place: the first line with which it is there."""
    lines = source.text.splitlines(keepends=True)

    def there(count: int) -> bool:
        fault = _fault_of(lines, count)
        return fault is not None and not isinstance(fault, tomllib.TOMLDecodeError)

    line = _first(len(lines), there)
    return _error(what, line, source, f"line {line}, column 1")


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """The smallest number up to `count` for which something holds that holds from there on."""
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _fault_of(lines: list[str], count: int) -> Exception | None:
    try:
        tomllib.loads("".join(lines[:count]))
    except (ValueError, RecursionError) as fault:
        return fault
    return None


def _error(what: str, line: int, source: ConfigSource, where: str) -> ConfigError:
    return ConfigError(f"{source.origin}:{line}: not valid TOML: {what} ({where}); mend that line")
