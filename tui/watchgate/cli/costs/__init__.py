"""`costs`: what agents used and what that cost, from their own files; needs no core."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, json_line
from watchgate.cli.progress import progress
from watchgate.cli.since import now_us, since_us
from watchgate.cli.uncollected import uncollected

if TYPE_CHECKING:
    from watchgate.cli.costs.reading import Reading
    from watchgate.cli.costs.view import Asked, View

BY = ("session", "model", "day", "agent", "turn", "call")
_MOST_DAYS = 100_000


def add_parser(commands: Any) -> None:
    """Add the command."""
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
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= _MOST_DAYS):
        raise argparse.ArgumentTypeError(f"takes a number of days from 1 on, not {text[:40]!r}")
    return int(text)


def _costs(args: argparse.Namespace) -> int:
    since = since_us(args.since) or 0
    with uncollected(), progress("MiB left to read") as show:
        from watchgate.cli.costs.reading import reading

        book = reading()
        book.read(show)
    asked = _asked(args, book, since)
    if args.follow:
        from watchgate.cli.costs.follow import follow

        follow(book, asked, as_json=args.json, subs=args.subs)
        return Exit.DONE
    costs_view = book.view(asked)
    if args.json:
        from watchgate.cli.costs.as_json import told

        for row in costs_view.rows:
            json_line(told(row))
    else:
        for line in text(book, costs_view, asked, subs=args.subs):
            print(line)
        sys.stdout.flush()
    for fault in book.faults():
        complain(fault)
    return Exit.DONE


def _asked(args: argparse.Namespace, book: Reading, since: int) -> Asked:
    from watchgate.cli.costs.reading import first_day
    from watchgate.cli.costs.view import Asked, NoSessionError, find

    key = None
    if args.session is not None:
        try:
            key = find(args.session, book.keys())
        except NoSessionError as fault:
            raise Stop(str(fault)) from None
    return Asked(
        by=args.by,
        key=key,
        agent=args.agent,
        since_us=since,
        first_day=first_day(args.days, now_us()) if args.days else 0,
    )


def text(book: Reading, costs_view: View, asked: Asked, *, subs: bool) -> list[str]:
    """The view for a person."""
    from watchgate.cli.costs.table import nothing, remarks, table

    if not costs_view.rows:
        keys = book.keys()
        return [nothing(asked, {agent for agent, _ in keys})]
    cells = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    lines = table(asked.by, costs_view.rows, costs_view.sums, subs=subs, cells=cells)
    return [*lines, *remarks(costs_view.sums, book.prices.words())]
