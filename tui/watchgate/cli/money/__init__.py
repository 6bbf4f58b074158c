"""`costs` and `prices`: what agents used and what that cost, from their own files; needs no core.

Arguments and usage files come in, tables and an exit code go out. It imports base, and when it runs
the usage of core and agents, the service's prices and files, and the lines of lookback.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, progress
from watchgate.cli.base.since import now_us, since_us

if TYPE_CHECKING:
    from watchgate.cli.money.cost_reading import CostReading
    from watchgate.cli.money.cost_view import CostQuery


@contextmanager
def uncollected() -> Iterator[None]:
    """Turns garbage collection off in the block, and exempts its objects from it afterwards.

    Each collection walks through everything read so far, which grows with every file. Objects that
    are in no cycle are freed at once all the same, so memory does not grow by it.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if on:
            gc.enable()


BY = ("session", "model", "day", "agent", "turn", "call")
_MAX_DAYS = 100_000


def add_parser(commands: Any) -> None:
    """Adds the command."""
    costs = commands.add_parser(
        "costs",
        help="tokens and money, counted from the files of agents; what is unknown is said to be",
        epilog="example: watchgate costs --by model --days 7",
    )
    costs.add_argument("--by", choices=BY, default="day", help="a row for each (default: day)")
    costs.add_argument(
        "--session", metavar="S", help="of this session alone: its id or how that begins, AGENT:ID"
    )
    costs.add_argument("--agent", metavar="A", default="", help="of this agent alone")
    span = costs.add_mutually_exclusive_group()
    span.add_argument(
        "--since", metavar="T", help="since 30s, 10m, 2h ago, 12:04 or 2026-11-20; as since: does"
    )
    span.add_argument("--days", type=_days, metavar="N", help="of today and the days before")
    costs.add_argument("--subs", action="store_true", help="sub-agents below their sessions")
    costs.add_argument("--follow", action="store_true", help="go on, and show what changes")
    costs.add_argument("--json", action="store_true", help="one row as JSON a line")
    costs.set_defaults(run=_costs)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= _MAX_DAYS):
        raise argparse.ArgumentTypeError(f"takes a number of days from 1 on, not {text[:40]!r}")
    return int(text)


def _costs(args: argparse.Namespace) -> int:
    since = since_us(args.since) or 0
    with uncollected(), progress("MiB left to read") as show:
        from watchgate.cli.money.cost_reading import reading

        book = reading()
        book.read(show)
    asked = _asked(args, book, since)
    if args.follow:
        from watchgate.cli.money.follow_costs import follow

        follow(book, asked, as_json=args.json, subs=args.subs)
        return Exit.DONE
    costs_view = book.view(asked)
    if args.json:
        from watchgate.cli.money.cost_table import row_fields

        for row in costs_view.rows:
            json_line(row_fields(row))
    else:
        from watchgate.cli.money.follow_costs import text

        for line in text(book, costs_view, asked, subs=args.subs):
            print(line)
        sys.stdout.flush()
    for fault in book.faults():
        complain(fault)
    return Exit.DONE


def _asked(args: argparse.Namespace, book: CostReading, since: int) -> CostQuery:
    from watchgate.cli.money.cost_reading import first_day
    from watchgate.cli.money.cost_view import CostQuery, NoSessionError, find

    key = None
    if args.session is not None:
        try:
            key = find(args.session, book.keys())
        except NoSessionError as fault:
            raise Stop(str(fault)) from None
    return CostQuery(
        by=args.by,
        key=key,
        agent=args.agent,
        since_us=since,
        first_day=first_day(args.days, now_us()) if args.days else 0,
    )
