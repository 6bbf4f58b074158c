"""`tail`: live records, as lines for people or JSON for scripts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.filtering import HELP, wanted
from watchgate.cli.output import complain, json_line, say
from watchgate.cli.place import here
from watchgate.cli.record_line import record_line
from watchgate.cli.since import since_us

if TYPE_CHECKING:
    from watchgate.core.filters import Filter
    from watchgate.core.records import Record


def add_parser(commands: Any) -> None:
    """Add the command."""
    tail = commands.add_parser(
        "tail",
        help="live records",
        epilog="example: watchgate tail 'agent:claude kind:tool.*' --since 10m --json",
    )
    tail.add_argument("filter", nargs="*", metavar="FILTER", help=HELP)
    tail.add_argument(
        "--since",
        metavar="T",
        help="begin with the records since 30s, 10m, 2h ago, 12:04 or 2026-11-20; as since: does",
    )
    tail.add_argument("--json", action="store_true", help="one JSON object a line")
    tail.set_defaults(run=_tail)


def _tail(args: argparse.Namespace) -> int:
    import anyio

    from watchgate.link.lines import LinkError
    from watchgate.service.journal.schema import JournalError

    _, taken = wanted(args.filter)
    begin_us = since_us(args.since)
    try:
        anyio.run(_follow, taken, taken.since_us if begin_us is None else begin_us, args.json)
    except LinkError as fault:
        raise Stop(str(fault), Exit.NO_CORE) from None
    except JournalError as fault:
        raise Stop(str(fault)) from None
    return Exit.DONE


async def _follow(taken: Filter, since_us: int | None, as_json: bool) -> None:
    from watchgate.core.record_fields import RECORD_FIELDS
    from watchgate.link.client import connect

    keeps = taken.over(RECORD_FIELDS)

    def show(record: Record) -> None:
        if keeps is None or keeps(record):
            _print(record, as_json)

    paths = here()
    async with connect(paths.control_socket) as client:
        snapshot = await client.attach(observer=True)
        if since_us is not None:
            from watchgate.service.journal.reading import since

            # To answer, the core brings what waits for its disk there.
            await client.call("history", from_seq=snapshot.seq, to_seq=snapshot.seq)
            for record in since(paths.journal, since_us):
                if record.seq <= snapshot.seq:
                    show(record)
        while True:
            for push in await client.batch():
                if push.record is not None:
                    show(push.record)
                if push.gap is not None:
                    first, last = push.gap
                    complain(f"records {first} to {last} are left out: this reads too slowly")


def _print(record: Record, as_json: bool) -> None:
    if as_json:
        json_line(record)
    else:
        say(record_line(record))
