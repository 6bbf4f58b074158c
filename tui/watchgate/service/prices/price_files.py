"""The two files beside the prices: a table that was fetched, and tariffs resolved before.

A file that is broken, of another version or not ours alone is as good as none: the first is then
the table that comes with the program, the second is made anew.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec

from watchgate.core.base import decoding
from watchgate.service.prices.tariffs import Schedule
from watchgate.service.system import safe_files

FETCHED = "prices.json"
RESOLVED = "tariffs.json"
MAX_BYTES = safe_files.READ_BYTES
_FORMAT = 1

TariffKey = tuple[str, str, str]
"""The provider, the model and the words of context of a call."""


class TableError(Exception):
    """A table that cannot be used; the message says why."""


Moment = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799_000_000)]
"""UTC µs up to the year 9999, after which there are no dates."""


class FetchedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A downloaded table as it came, and when (UTC µs) from where."""

    fetched_us: Moment
    url: str
    providers: msgspec.Raw


class _Resolved(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    table: str
    date: str
    schedules: list[tuple[TariffKey, Schedule | None]] = msgspec.field(name="found")


def read_fetched(path: Path) -> FetchedTable | None:
    """Reads the fetched table; None where there is none. Raises `ValueError`, `OSError`."""
    try:
        content = safe_files.read_own_file(path)
    except FileNotFoundError:
        return None
    try:
        return decoding.decode(content, FetchedTable)
    except RecursionError as fault:
        raise ValueError("it is nested too deep") from fault


def write_fetched(path: Path, fetched: FetchedTable) -> None:
    """Keeps a table for later starts. Raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    safe_files.replace_own_file(path, msgspec.json.encode(fetched))


def read_resolved(path: Path, table: str) -> tuple[str, dict[TariffKey, Schedule | None]]:
    """Reads this table's date and the tariffs resolved by it; empty where the file is no good."""
    try:
        resolved = decoding.decode(safe_files.read_own_file(path), _Resolved)
    except (OSError, ValueError, RecursionError):
        return "", {}
    if (
        resolved.format != _FORMAT
        or resolved.table != table
        or not all(map(_sound, resolved.schedules))
    ):
        return "", {}
    return resolved.date, dict(resolved.schedules)


def write_resolved(
    path: Path, table: str, date: str, schedules: dict[TariffKey, Schedule | None]
) -> None:
    """Keeps the tariffs resolved by this table, with mode 0600; nothing where that fails.

    It is not forced onto the disk: what a power cut leaves of it does not decode.
    """
    resolved = _Resolved(format=_FORMAT, table=table, date=date, schedules=list(schedules.items()))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(resolved))
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return


def _sound(entry: tuple[TariffKey, Schedule | None]) -> bool:
    """Returns whether a schedule has an entry for every time and any number of tokens."""
    days = () if entry[1] is None else entry[1].days
    hours = [each for _, each in days]
    tiers = [tariff.tiers for each in hours for _, tariff in each if tariff is not None]
    return all(map(_starts, [*hours, *tiers])) and (entry[1] is None or _starts(days))


def _starts(entries: tuple[tuple[int, Any], ...]) -> bool:
    return bool(entries) and entries[0][0] == 0
