"""Gives the price of a call: the user's own prices, else the table of genai-prices.

The table is loaded by the first call of a model that was never asked for, and what it says is
kept in a file, so that most starts load nothing. A model without a price is kept as one.

The date of a table of prices, and the age at which it is too old.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.config.config_sections import PriceConfig
from watchgate.core.usage.pricing import Tariff
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.prices.price_files import (
    FETCHED,
    RESOLVED,
    FetchedTable,
    TableError,
    TariffKey,
    read_fetched,
    read_resolved,
    write_resolved,
)
from watchgate.service.prices.tariffs import Schedule, own_tariff

if TYPE_CHECKING:
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.prices.price_table import RateTable


OLD_DAYS = 45
PACKAGE = "genai-prices"
RELEASED = {"0.2.3": "2026-11-10"}
"""The days on which releases of genai-prices were uploaded. Source: its files on PyPI.

What is installed does not say it: its table has no date, its archive none but a made-up one.
"""


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """The table of prices in use; `date` is empty where nothing tells its age.

    `date` is the day of its release, or of the download of one that was `fetched`: a price that
    changed after it is not in it.
    """

    name: str = PACKAGE
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


def with_age(table: PriceTable, now_us: int) -> PriceTable:
    """Returns the table with its age at this time; a day to come is an age of 0."""
    if not table.date:
        return table
    age = (_day(now_us) - date.fromisoformat(table.date)).days
    return msgspec.structs.replace(table, age_days=max(age, 0))


def utc_day(at_us: int) -> str:
    """Returns the UTC day of a time, as ISO 8601 writes it."""
    return _day(at_us).isoformat()


def installed_version() -> str:
    """Returns the installed version of genai-prices; empty where it is not installed."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ""


def installed_on() -> date:
    """Returns the day on which genai-prices was installed: no table of its can be newer."""
    files = metadata.files(PACKAGE) or []
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


MAX_STORED = 512
"""So many models are kept in the file: names come from outside, and anybody can make up more."""
MAX_CACHED = 10_000


def prices_of(config: Config, paths: Paths, now_us: int) -> Prices:
    """Builds the prices in force for this user."""
    return Prices(
        config.price,
        cache=paths.state_dir / RESOLVED,
        fetched=paths.data_dir / FETCHED,
        now_us=now_us,
    )


class Prices:
    """Gives the tariff of every call, from any thread; slow the first time."""

    def __init__(
        self,
        own: Sequence[PriceConfig] = (),
        *,
        cache: Path | None = None,
        fetched: Path | None = None,
        now_us: int = 0,
    ) -> None:
        self.own = {price.model: own_tariff(price) for price in own}
        self._cache = cache
        self._place = fetched
        self._now_us = now_us
        self._lock = threading.Lock()
        self._known: dict[TariffKey, Schedule | None] = {}
        self._loaded: RateTable | None = None
        self._fetched: FetchedTable | None = None
        self._fault = ""
        self._table = PriceTable()
        self._open()

    @property
    def table(self) -> PriceTable:
        """Returns the table in use, with its age when this was made or renewed."""
        return self._table

    def words(self) -> str:
        """Returns the table as a total names it."""
        return self._table.words

    def remark(self) -> str:
        """Returns the fault of the table in use and how to mend it; empty: nothing."""
        if self._fault:
            return f"{self._fault}; watchgate prices --update fetches it anew"
        if self._table.old:
            return (
                f"the prices are {self._table.age_days} days old and may have changed: "
                "watchgate prices --update fetches newer ones"
            )
        return ""

    def tariff_of(self, call: UsageCall) -> Tariff | None:
        """Returns the tariff of a call at its time; None if nobody says what its model charges."""
        own = self.own.get(call.model)
        if own is not None:
            return own
        key = (call.provider, call.model, call.context)
        try:
            schedule = self._known[key]
        except KeyError:
            schedule = self._resolve(key)
        return None if schedule is None else schedule.at(call.at_us)

    def renew(self, now_us: int) -> bool:
        """Looks for another fetched table; returns whether costs are to be computed anew."""
        with self._lock:
            self._now_us = now_us
            before = self._source
            self._open()
            return self._source != before

    @property
    def _source(self) -> str:
        at = "" if self._fetched is None else f"@{self._fetched.fetched_us}"
        return self._table.version + at

    def _open(self) -> None:
        """Finds out which table is in use, without loading it."""
        before = self._source
        self._fault = ""
        self._fetched = self._newer()
        installed = installed_version()
        day = RELEASED.get(installed, "")
        if self._fetched is not None:
            day = utc_day(self._fetched.fetched_us)
        self._table = PriceTable(version=installed, date=day, fetched=self._fetched is not None)
        if self._source != before:
            self._loaded = None
            self._known = {}
            if self._cache is not None:
                stored_day, self._known = read_resolved(self._cache, self._source)
                day = day or stored_day
        self._table = with_age(msgspec.structs.replace(self._table, date=day), self._now_us)

    def _newer(self) -> FetchedTable | None:
        """Returns the fetched table, unless the one that comes with the program is newer."""
        if self._place is None:
            return None
        try:
            fetched = read_fetched(self._place)
        except (OSError, ValueError, OverflowError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else "it is broken"
            self._fault = f"the fetched prices in {self._place} are not used: {why}"
            return None
        if fetched is None or utc_day(fetched.fetched_us) < RELEASED.get(installed_version(), ""):
            return None
        return fetched

    def _resolve(self, key: TariffKey) -> Schedule | None:
        with self._lock:
            if key in self._known:
                return self._known[key]
            table = self._load()
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            schedule = self._known[key] = table.schedule(*key)
            if self._cache is not None and len(self._known) <= MAX_STORED:
                write_resolved(self._cache, self._source, self._table.date, self._known)
            return schedule

    def _load(self) -> RateTable:
        if self._loaded is None:
            # Not before it is needed: with it comes all of genai-prices.
            make: type[RateTable] = import_module("watchgate.service.prices.price_table").RateTable
            if self._fetched is not None:
                try:
                    self._loaded = make(msgspec.json.decode(self._fetched.providers))
                except (TableError, ValueError, RecursionError) as fault:
                    self._drop_fetched(str(fault))
            if self._loaded is None:
                self._loaded = make()
            self._date(self._loaded)
        return self._loaded

    def _drop_fetched(self, why: str) -> None:
        self._fetched = None
        self._fault = f"the fetched prices in {self._place} are not used: {why}"
        installed = installed_version()
        self._table = with_age(
            PriceTable(version=installed, date=RELEASED.get(installed, "")), self._now_us
        )
        self._known = {}

    def _date(self, table: RateTable) -> None:
        """Dates a table whose release no list names, by the last day that it has prices of."""
        if not self._table.date:
            newest: date | None = table.newest_start(until=installed_on())
            day = newest.isoformat() if newest else ""
            self._table = with_age(msgspec.structs.replace(self._table, date=day), self._now_us)
