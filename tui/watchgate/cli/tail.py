"""`tail`: live records, as lines for people or JSON for scripts."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, json_line, say
from watchgate.cli.place import here
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
    tail.add_argument(
        "filter", nargs="*", metavar="FILTER", help="agent:A tool:T kind:K risk:R text"
    )
    tail.add_argument(
        "--since", metavar="T", help="begin with the records of the last 30s, 10m, 2h"
    )
    tail.add_argument("--json", action="store_true", help="one JSON object a line")
    tail.set_defaults(run=_tail)


def _tail(args: argparse.Namespace) -> int:
    import anyio

    from watchgate.core.filters import FilterError, parse
    from watchgate.link.lines import LinkError
    from watchgate.service.journal_schema import JournalError

    try:
        wanted = parse(" ".join(args.filter))
    except FilterError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    try:
        anyio.run(_follow, wanted, since_us(args.since), args.json)
    except LinkError as fault:
        raise Stop(str(fault), Exit.NO_CORE) from None
    except JournalError as fault:
        raise Stop(str(fault)) from None
    return Exit.DONE


async def _follow(wanted: Filter, since_us: int | None, as_json: bool) -> None:
    from watchgate.link.client import connect

    paths = here()
    async with connect(paths.control_socket) as client:
        snapshot = await client.attach(observer=True)
        if since_us is not None:
            from watchgate.service.journal_read import since

            # To answer, the core brings what waits for its disk there.
            await client.call("history", from_seq=snapshot.seq, to_seq=snapshot.seq)
            for record in since(paths.journal, since_us):
                if record.seq <= snapshot.seq:
                    _print(record, wanted, as_json)
        while True:
            for push in await client.batch():
                if push.record is not None:
                    _print(push.record, wanted, as_json)
                if push.gap is not None:
                    first, last = push.gap
                    complain(f"records {first} to {last} are left out: this reads too slowly")


def _print(record: Record, wanted: Filter, as_json: bool) -> None:
    from watchgate.core.record_fields import fields, words
    from watchgate.core.redact import redact

    if not wanted.matches(fields(record)):
        return
    if as_json:
        json_line(record)
        return
    time = datetime.fromtimestamp(record.at / 1_000_000, UTC).astimezone().strftime("%H:%M:%S")
    who = f"{record.agent or 'core'} {(record.session or '')[:8]}".strip()
    say(f"{time}  {who:<16}  {record.kind:<20}  {redact(words(record))}")
