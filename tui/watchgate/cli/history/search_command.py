"""`search`: recorded history that a filter takes, as lines for people or JSON for scripts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.ask import Unreached, ask
from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, json_line, say
from watchgate.cli.history.filter_option import HELP, record_line, wanted
from watchgate.core.base import decoding

if TYPE_CHECKING:
    from watchgate.core.filters.filter_parser import Filter
    from watchgate.core.model.records import Record

LIMIT = 100
PAGE = 200
"""Records of one answer, so that none grows too long for the line it comes on."""

Search = Callable[[int, int | None], tuple[list["Record"], int | None]]
"""The records of one answer, of so many at most down from one of them, and where to go on."""


def add_parser(commands: Any) -> None:
    """Adds the command."""
    search = commands.add_parser(
        "search",
        help="recorded history, the newest first",
        epilog="example: watchgate search 'state:denied risk>=high since:7d' --limit 20",
    )
    search.intermixed = True
    search.add_argument("filter", nargs="+", metavar="FILTER", help=HELP)
    search.add_argument(
        "--limit", type=_count, default=LIMIT, metavar="N", help=f"at most so many ({LIMIT})"
    )
    search.add_argument("--json", action="store_true", help="one record as JSON a line")
    search.set_defaults(run=_search)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"takes a number from 1 on, not {text[:40]!r}")
    return int(text)


def _search(args: argparse.Namespace) -> int:
    _, taken = wanted(args.filter)
    count = 0
    for record in _matches(_searching(taken), args.limit):
        if args.json:
            json_line(record)
        else:
            say(record_line(record, dated=True))
        count += 1
    if not count:
        raise Stop("nothing that was recorded matches the filter")
    return Exit.DONE


def _matches(search: Search, limit: int) -> Iterator[Record]:
    """The records, the newest first; one answer tells of some of them."""
    last: int | None = None
    while limit > 0:
        records, last = search(min(limit, PAGE), last)
        yield from records
        limit -= len(records)
        if last is None:
            return


def _searching(taken: Filter) -> Search:
    """Returns the search to use: of the running core, which has the newest, else of the journal."""
    from watchgate.link.protocol import Request

    try:
        ask(Request(id=1, verb="hello"))
    except Unreached as none:
        return _in_journal(taken, none)
    return _at_core(str(taken.pinned()))


def _at_core(text: str) -> Search:

    from watchgate.core.model.records import Record
    from watchgate.link.protocol import Request

    def search(limit: int, last: int | None) -> tuple[list[Record], int | None]:
        request = Request(id=1, verb="search", filter=text, limit=limit, to_seq=last)
        answer = ask(request)
        return decoding.convert(answer["records"], list[Record]), answer["next"]

    return search


def _in_journal(taken: Filter, no_core: Stop) -> Search:
    from watchgate.service.history import record_pages
    from watchgate.service.journal.schema import JournalError

    journal = here().journal
    if not journal.exists():
        raise no_core

    def search(limit: int, last: int | None) -> tuple[list[Record], int | None]:
        try:
            answer = record_pages.search(journal, taken, limit, None, last)
        except JournalError as fault:
            raise Stop(str(fault)) from None
        return answer["records"], answer["next"]

    return search
