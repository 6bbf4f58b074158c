"""TOML of a configuration: its values, or an error with the line and column of the fault."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from watchgate.core.config_errors import ConfigError, Source

# Each line looked at is one more reading of the text before it.
_LOOKED_BACK_LINES = 50

_POSITION = re.compile(r" \(at line (\d+), column (\d+)\)$")
_AT_END = " (at end of document)"


def parse(source: Source) -> dict[str, Any]:
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


def _located(fault: str, source: Source) -> ConfigError:
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


def _unplaced(what: str, source: Source) -> ConfigError:
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


def _error(what: str, line: int, source: Source, where: str) -> ConfigError:
    return ConfigError(f"{source.origin}:{line}: not valid TOML: {what} ({where}); mend that line")
