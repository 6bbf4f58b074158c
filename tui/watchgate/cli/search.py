"""`search`: recorded history that a filter takes, as lines for people or JSON for scripts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.filtering import HELP, wanted
from watchgate.cli.output import json_line, say
from watchgate.cli.record_line import record_line

if TYPE_CHECKING:
    from watchgate.core.records import Record

LIMIT = 100
PAGE = 200
"""Records of one answer, so that none grows too long for the line it comes on."""


def add_parser(commands: Any) -> None:
    """Add the command."""
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
    for record in _found(str(taken.pinned()), args.limit):
        if args.json:
            json_line(record)
        else:
            say(record_line(record, dated=True))
        count += 1
    if not count:
        raise Stop("nothing that was recorded matches the filter")
    return Exit.DONE


def _found(text: str, limit: int) -> Iterator[Record]:
    """The records that a filter takes, the newest first; the core looks at some at a time."""
    import msgspec

    from watchgate.core.records import Record
    from watchgate.link.protocol import Request

    last: int | None = ask(Request(id=1, verb="hello"))["hello"]["seq"]
    while limit > 0 and last is not None:
        asked = min(limit, PAGE)
        answer = ask(Request(id=1, verb="search", filter=text, limit=asked, to_seq=last))
        records = msgspec.convert(answer["records"], list[Record])
        yield from records
        limit -= len(records)
        last = answer["next"]
