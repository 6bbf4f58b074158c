"""Gives the price of a call: the user's own prices, else the table of genai-prices.

The table is loaded by the first call of a model that was never asked for, and what it says is
kept in a file, so that most starts load nothing. A model without a price is kept as one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.config_costs import PriceConfig
from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.rates import Tariff
from watchgate.service.prices.dates import (
    RELEASED,
    PriceTable,
    dated,
    day_of,
    installed_on,
    version,
)
from watchgate.service.prices.files import (
    FETCHED,
    RESOLVED,
    Fetched,
    Key,
    TableError,
    read_fetched,
    read_resolved,
    write_resolved,
)
from watchgate.service.prices.rates import own_tariff
from watchgate.service.prices.schedule import Schedule

if TYPE_CHECKING:
    from watchgate.core.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.prices.table import Table

MOST_KEPT = 512
"""So many models are kept in the file: names come from outside, and anybody can make up more."""
MOST_KNOWN = 10_000


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
        self._known: dict[Key, Schedule | None] = {}
        self._loaded: Table | None = None
        self._fetched: Fetched | None = None
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
        installed = version()
        day = RELEASED.get(installed, "")
        if self._fetched is not None:
            day = day_of(self._fetched.fetched_us)
        self._table = PriceTable(version=installed, date=day, fetched=self._fetched is not None)
        if self._source != before:
            self._loaded = None
            self._known = {}
            if self._cache is not None:
                stored_day, self._known = read_resolved(self._cache, self._source)
                day = day or stored_day
        self._table = dated(msgspec.structs.replace(self._table, date=day), self._now_us)

    def _newer(self) -> Fetched | None:
        """Returns the fetched table, unless the one that comes with the program is newer."""
        if self._place is None:
            return None
        try:
            fetched = read_fetched(self._place)
        except (OSError, ValueError, OverflowError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else "it is broken"
            self._fault = f"the fetched prices in {self._place} are not used: {why}"
            return None
        if fetched is None or day_of(fetched.fetched_us) < RELEASED.get(version(), ""):
            return None
        return fetched

    def _resolve(self, key: Key) -> Schedule | None:
        with self._lock:
            if key in self._known:
                return self._known[key]
            table = self._load()
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            schedule = self._known[key] = table.schedule(*key)
            if self._cache is not None and len(self._known) <= MOST_KEPT:
                write_resolved(self._cache, self._source, self._table.date, self._known)
            return schedule

    def _load(self) -> Table:
        if self._loaded is None:
            # Not before it is needed: with it comes all of genai-prices.
            make: type[Table] = import_module("watchgate.service.prices.table").Table
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
        installed = version()
        self._table = dated(
            PriceTable(version=installed, date=RELEASED.get(installed, "")), self._now_us
        )
        self._known = {}

    def _date(self, table: Table) -> None:
        """Dates a table whose release no list names, by the last day that it has prices of."""
        if not self._table.date:
            newest: date | None = table.newest_start(until=installed_on())
            day = newest.isoformat() if newest else ""
            self._table = dated(msgspec.structs.replace(self._table, date=day), self._now_us)
