"""The date of a table of prices, and the age at which it is too old."""

from __future__ import annotations

from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path

import msgspec

OLD_DAYS = 45
NAME = "genai-prices"
RELEASED = {"0.2.3": "2026-11-10"}
"""The days on which releases of genai-prices were uploaded. Source: its files on PyPI.

What is installed does not say it: its table has no date, its archive none but a made-up one.
"""


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """The table of prices in use; `date` is empty where nothing tells its age.

    `date` is the day of its release, or of the download of one that was `fetched`: a price that
    changed after it is not in it.
    """

    name: str = NAME
    version: str = ""
    date: str = ""
    age_days: int | None = None
    fetched: bool = False

    @property
    def old(self) -> bool:
        """Returns whether its figures are doubtful for its age."""
        return self.age_days is not None and self.age_days > OLD_DAYS

    @property
    def words(self) -> str:
        """Returns the table as a total names it: `prices of 2026-11-10, genai-prices 0.2.3`."""
        day = f"prices {'fetched' if self.fetched else 'of'} {self.date}" if self.date else "prices"
        return f"{day}, {self.name} {self.version}".rstrip()


def dated(table: PriceTable, now_us: int) -> PriceTable:
    """Returns the table with its age at this time; a day to come is an age of 0."""
    if not table.date:
        return table
    age = (_day(now_us) - date.fromisoformat(table.date)).days
    return msgspec.structs.replace(table, age_days=max(age, 0))


def day_of(at_us: int) -> str:
    """Returns the UTC day of a time, as ISO 8601 writes it."""
    return _day(at_us).isoformat()


def version() -> str:
    """Returns the installed version of genai-prices; empty where it is not installed."""
    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return ""


def installed_on() -> date:
    """Returns the day on which genai-prices was installed: no table of its can be newer."""
    files = metadata.files(NAME) or []
    metadata_path = next(
        (Path(str(each.locate())) for each in files if each.name == "METADATA"), None
    )
    try:
        at_s = metadata_path.stat().st_mtime if metadata_path is not None else 0
    except OSError:
        at_s = 0
    return datetime.fromtimestamp(at_s, UTC).date()


def _day(at_us: int) -> date:
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).date()
