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
    """Add the command."""
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
    from watchgate.service.prices.prices import prices_of

    paths, at_us = here(sockets=False), now_us()
    config = configured(paths)
    updated = not args.update or _update(paths, at_us)
    prices = prices_of(config, paths, at_us)
    tariffs = {name: _tariff(prices, name, at_us) for name in args.model}
    if args.json:
        _as_json(prices, tariffs)
    else:
        _as_text(prices, tariffs)
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


def _tariff(prices: Prices, name: str, at_us: int) -> Tariff | None:
    from watchgate.core.usage.usage_calls import UsageCall

    return prices.tariff_of(UsageCall(id="", at_us=at_us, session="", model=name))


def _as_text(prices: Prices, tariffs: dict[str, Tariff | None]) -> None:
    age = prices.table.age_days
    say(prices.words() + ("" if age is None else f", {age} {'day' if age == 1 else 'days'} old"))
    if prices.own:
        say(f"prices of your own: {', '.join(prices.own)}")
    rows = [
        row for name, tariff in tariffs.items() if tariff for row in _rows(prices, name, tariff)
    ]
    if rows:
        say()
        table(_HEAD, rows)
        say()
        say("dollars per million tokens, and per thousand searches; - where there is no price")


def _rows(prices: Prices, name: str, tariff: Tariff) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{over:,}" if over else "-",
            _usd(rates.input),
            _usd(rates.output),
            _usd(rates.cache_read),
            _usd(rates.cache_5m),
            _usd(rates.cache_1h),
            "-" if rates.web_search is None else _usd(rates.web_search, _PICO_PER_THOUSAND),
            _origin(prices, name),
        )
        for over, rates in tariff.tiers
    ]


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
        known = tariff is not None
        tiers = [_tier(over, rates) for over, rates in tariff.tiers] if tariff else None
        json_line({"model": name, "from": _origin(prices, name) if known else None, "tiers": tiers})


def _tier(over: int, rates: Rates) -> dict[str, Any]:
    """One tier; money as text, since a price is a decimal and a JSON number seldom stays one."""
    searches = rates.web_search
    return {
        "over_tokens": over,
        "input_usd_per_mtok": _usd(rates.input),
        "output_usd_per_mtok": _usd(rates.output),
        "cache_read_usd_per_mtok": _usd(rates.cache_read),
        "cache_write_5m_usd_per_mtok": _usd(rates.cache_5m),
        "cache_write_1h_usd_per_mtok": _usd(rates.cache_1h),
        "web_search_usd_per_thousand": None
        if searches is None
        else _usd(searches, _PICO_PER_THOUSAND),
    }


def _origin(prices: Prices, name: str) -> str:
    return "own" if name in prices.own else "table"


def _usd(pico: int, parts: int = _PICO_PER_MTOK) -> str:
    """Dollars for a million tokens or a thousand searches, with no more places than it has."""
    from decimal import Decimal

    return f"{(Decimal(pico) / parts).normalize():f}"
