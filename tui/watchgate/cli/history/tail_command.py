"""`tail`: what happens, as lines for people, or every record as a line or JSON."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Literal

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.cli.base.since import since_us
from watchgate.cli.history.filter_option import HELP, record_line, wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from watchgate.cli.history.live_lines import LiveLines
    from watchgate.core.filters.filter_parser import Filter
    from watchgate.core.model.records import Record

Form = Literal["lines", "all", "json"]


def add_parser(commands: Any) -> None:
    """Adds the command."""
    tail = commands.add_parser(
        "tail",
        help="calls and decisions as they happen",
        description="One line for each call once it is over, each request and its decision, "
        "sessions, prompts and alarms. --json prints every record.",
        epilog="example: watchgate tail 'agent:claude kind:tool.*' --since 10m --json",
    )
    tail.add_argument("filter", nargs="*", metavar="FILTER", help=HELP)
    tail.add_argument(
        "--since",
        metavar="T",
        help="begin with the records since 30s, 10m, 2h ago, 12:04 or 2026-11-20; as since: does",
    )
    tail.add_argument(
        "--all",
        action="store_true",
        help="every record, those of hooks, usage and the core's own work too; so does kind:",
    )
    tail.add_argument("--json", action="store_true", help="one JSON object a line")
    tail.set_defaults(run=_tail)


def _tail(args: argparse.Namespace) -> int:
    import anyio

    from watchgate.link.control_lines import LinkError
    from watchgate.service.journal.schema import JournalError

    _, taken = wanted(args.filter)
    begin_us = since_us(args.since)
    begin_us = taken.since_us if begin_us is None else begin_us
    every = args.all or any(term.key == "kind" for term in taken.terms)
    try:
        anyio.run(_follow, taken, begin_us, "json" if args.json else "all" if every else "lines")
    except LinkError as fault:
        raise Stop(str(fault), Exit.NO_CORE) from None
    except JournalError as fault:
        raise Stop(str(fault)) from None
    return Exit.DONE


async def _follow(taken: Filter, since_us: int | None, form: Form) -> None:
    from watchgate.cli.history.live_lines import LiveLines
    from watchgate.core.filters.filter_fields import RECORD_FIELDS
    from watchgate.core.state.session_views import SessionViews
    from watchgate.core.state.state import State
    from watchgate.link.control_client import connect
    from watchgate.link.snapshots import restored

    paths = here()
    async with connect(paths.control_socket) as client:
        snapshot = await client.attach(observer=True)
        state = restored(snapshot)
        if since_us is not None:
            state = State()
            state.session_views = SessionViews(snapshot.sessions)
        show = _shown(form, LiveLines(state), taken.over(RECORD_FIELDS))
        if since_us is not None:
            from watchgate.service.journal.journal_reader import since

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


def _shown(
    form: Form, lines: LiveLines, keeps: Callable[[Record], bool] | None
) -> Callable[[Record], None]:
    """Prints a record in this form, where the filter keeps it."""

    def show(record: Record) -> None:
        # A line tells what a record changes, so all of them are folded, whatever is printed.
        line = lines.line(record) if form == "lines" else ""
        if keeps is not None and not keeps(record):
            return
        if form == "json":
            json_line(record)
        elif form == "all" or line:
            say(line or record_line(record))

    return show
