"""`prices`: which table of prices costs are computed by, how old it is, what a model charges."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import configured, here
from watchgate.cli.base.printing import Exit, complain, json_line, say, table
from watchgate.cli.base.since import now_us

if TYPE_CHECKING:
    from watchgate.core.usage.pricing import Rates, Tariff
    from watchgate.link.paths import Paths
    from watchgate.service.prices.prices import Prices

_PICO_PER_MTOK = 1_000_000
_PICO_PER_THOUSAND = 1_000_000_000
_HEAD = ("MODEL", "READS OVER", "INPUT", "OUTPUT", "CACHE READ", "5 MIN", "1 H", "SEARCH", "FROM")


def add_parser(commands: Any) -> None:
    """Adds the command."""
    prices = commands.add_parser(
        "prices",
        help="the table of prices in use, its age, and what the named models charge",
        description="Which table of prices costs are computed by, how old it is, and what the named"
        " models charge now. Nothing is fetched without --update.",
        epilog="example: watchgate prices claude-opus-5-5 gpt-6.1-sol",
    )
    prices.intermixed = True
    prices.add_argument(
        "model", nargs="*", metavar="MODEL", help="a model; one without a price ends in exit code 1"
    )
    prices.add_argument(
        "--update",
        action="store_true",
        help="first fetch the newest table over the network and keep it for all later starts",
    )
    prices.add_argument("--json", action="store_true", help="JSON lines: the table, then models")
    prices.set_defaults(run=_prices)


def _prices(args: argparse.Namespace) -> int:
    from watchgate.core.usage.usage_calls import UsageCall
    from watchgate.service.prices.prices import prices_of

    paths, at_us = here(sockets=False), now_us()
    config = configured(paths)
    updated = not args.update or _update(paths, at_us)
    prices = prices_of(config, paths, at_us)
    calls = [UsageCall(id="", at_us=at_us, session="", model=name) for name in args.model]
    tariffs = {call.model: prices.tariff_of(call) for call in calls}
    show = _as_json if args.json else _as_text
    show(prices, tariffs)
    if prices.remark():
        complain(prices.remark())
    unknown = [name for name, tariff in tariffs.items() if tariff is None]
    for name in unknown:
        complain(
            f"nobody says what {name} charges: its calls count as `?`; "
            f"a [[price]] in {paths.config} gives it a price"
        )
    return Exit.REFUSED if unknown or not updated else Exit.DONE


def _update(paths: Paths, at_us: int) -> bool:
    from watchgate.service.prices.price_files import FETCHED
    from watchgate.service.prices.price_updates import UpdateError, fetch_prices

    try:
        fetch_prices(paths.data_dir / FETCHED, at_us)
    except UpdateError as fault:
        complain(f"prices were not updated: {fault}; those in use stay in use")
        return False
    return True


def _as_text(prices: Prices, tariffs: dict[str, Tariff | None]) -> None:
    age = prices.table.age_days
    say(prices.words() + ("" if age is None else f", {age} {'day' if age == 1 else 'days'} old"))
    if prices.own:
        say(f"prices of your own: {', '.join(prices.own)}")
    rows = [
        (
            name,
            f"{over:,}" if over else "-",
            *(usd or "-" for usd in _dollars(rates).values()),
            _origin(prices, name),
        )
        for name, tariff in tariffs.items()
        if tariff
        for over, rates in tariff.tiers
    ]
    if rows:
        say()
        table(_HEAD, rows)
        say()
        say("dollars per million tokens, and per thousand searches; - where there is no price")


def _as_json(prices: Prices, tariffs: dict[str, Tariff | None]) -> None:
    used = prices.table
    json_line(
        {
            "table": used.name,
            "version": used.version,
            "date": used.date or None,
            "age_days": used.age_days,
            "old": used.old,
            "fetched": used.fetched,
            "own": list(prices.own),
        }
    )
    for name, tariff in tariffs.items():
        tiers = tariff and [{"over_tokens": over, **_dollars(each)} for over, each in tariff.tiers]
        json_line({"model": name, "from": tariff and _origin(prices, name), "tiers": tiers})


def _dollars(rates: Rates) -> dict[str, str | None]:
    """Prices in the order of the columns: texts, since a JSON number seldom stays a decimal."""
    return {
        "input_usd_per_mtok": _usd(rates.input),
        "output_usd_per_mtok": _usd(rates.output),
        "cache_read_usd_per_mtok": _usd(rates.cache_read),
        "cache_write_5m_usd_per_mtok": _usd(rates.cache_5m),
        "cache_write_1h_usd_per_mtok": _usd(rates.cache_1h),
        "web_search_usd_per_thousand": _usd(rates.web_search, _PICO_PER_THOUSAND),
    }


def _origin(prices: Prices, name: str) -> str:
    return "own" if name in prices.own else "table"


def _usd(pico: int | None, parts: int = _PICO_PER_MTOK) -> str | None:
    """Dollars for a million tokens or a thousand searches, with no more places than it has."""
    from decimal import Decimal

    return None if pico is None else f"{(Decimal(pico) / parts).normalize():f}"
