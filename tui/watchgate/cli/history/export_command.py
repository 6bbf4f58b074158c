"""`export`: recorded history written out, as JSON lines or as a page about one session."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, say
from watchgate.cli.base.since import now_us, since_us
from watchgate.cli.history.filter_option import HELP, wanted
from watchgate.cli.history.recorded import own_journal, session_called, written_out

if TYPE_CHECKING:
    from watchgate.core.filters.filter_parser import Filter
    from watchgate.core.model.records import Record
    from watchgate.core.report.html_page import JournalProof
    from watchgate.service.journal.journal_reader import OpenJournal

STDOUT = Path("-")


def add_parser(commands: Any) -> None:
    """Adds the command."""
    export = commands.add_parser(
        "export",
        help="write out recorded history: JSON lines, or a page about a session",
        epilog="example: watchgate export --session api-fix --html -o api-fix.html",
    )
    export.intermixed = True
    export.add_argument("filter", nargs="*", metavar="FILTER", help=HELP)
    export.add_argument(
        "--session",
        metavar="S",
        help="of this session alone: its id, 4 or more characters of it, AGENT:ID, or its name",
    )
    export.add_argument(
        "--since", metavar="T", help="since 30s, 10m, 2h ago, 12:04 or 2026-11-20; as since: does"
    )
    export.add_argument(
        "--html", action="store_true", help="a page to read or print; without --session the newest"
    )
    export.add_argument(
        "-o", "--output", type=Path, default=STDOUT, metavar="FILE", help="into this file"
    )
    export.add_argument("--force", action="store_true", help="in place of a file that is there")
    export.set_defaults(run=_export)


def _export(args: argparse.Namespace) -> int:
    from watchgate.service.history.recorded_sessions import PastError
    from watchgate.service.journal.journal_reader import opened_journal
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.system.new_file import NewFileError

    if args.html:
        _check_page(args)
    _, taken = wanted(args.filter)
    since = since_us(args.since)
    core = written_out()
    journal = own_journal()
    try:
        if args.html:
            _page(journal, args, core)
        else:
            with opened_journal(journal, as_stored=True) as stored:
                _lines(_of(stored, args.session, taken, since), args)
    except (JournalError, NewFileError, PastError) as fault:
        raise Stop(str(fault)) from None
    return Exit.DONE


def _check_page(args: argparse.Namespace) -> None:
    if args.filter or args.since:
        raise Stop(
            "a page tells the whole of a session: leave the filter and --since out, or --html",
            Exit.USAGE,
        )
    if args.output == STDOUT and sys.stdout.isatty():
        raise Stop("a page is for a browser: name a file with -o FILE", Exit.USAGE)


def _of(
    journal: OpenJournal, session: str | None, taken: Filter, since: int | None
) -> Iterator[Record]:
    """The records that are asked for, oldest first, by which their hashes can be proven."""
    from watchgate.core.filters.filter_fields import RECORD_FIELDS
    from watchgate.service.history import recorded_sessions
    from watchgate.service.journal import journal_reader
    from watchgate.service.journal.schema import LAST_SEQ

    begin = max(since or 0, taken.since_us or 0)
    records: Iterable[Record]
    if session is not None:
        recorded_session = recorded_sessions.find_session(journal.path, session_called(session))
        records = recorded_sessions.records_of(journal, *recorded_session)
    elif begin:
        records = journal_reader.since(journal, begin)
    else:
        records = journal_reader.read(journal, 1, LAST_SEQ)
    keeps = taken.over(RECORD_FIELDS) or (lambda _record: True)
    return (record for record in records if record.at >= begin and keeps(record))


def _lines(records: Iterator[Record], args: argparse.Namespace) -> None:
    import msgspec

    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for record in records:
            count += 1
            yield msgspec.json.encode(record) + b"\n"
        if not count:
            raise Stop("nothing that was recorded matches")

    _write(lines(), args, lambda: f"{count:,} record{'' if count == 1 else 's'}")


def _page(journal: Path, args: argparse.Namespace, core: str) -> None:
    from watchgate.core.history.call_history import CORE_KINDS
    from watchgate.core.report.call_steps import build_story
    from watchgate.core.report.html_page import report_page
    from watchgate.service.history import recorded_sessions
    from watchgate.service.journal import journal_reader

    agent, session = recorded_sessions.find_session(
        journal, args.session and session_called(args.session)
    )
    own = list(recorded_sessions.records_of(journal, agent, session))
    if not own:
        raise Stop(f"no record of session {session} is left in the journal")
    # What the core recorded of itself tells how its calls are to be read.
    about = journal_reader.among(journal, CORE_KINDS, 1, own[-1].seq)
    session_story = build_story([*own, *about], agent, session, core=core)
    pieces = report_page(session_story, _proof(journal))
    _write(
        (piece.encode() for piece in pieces), args, lambda: f"session {session_story.view.label}"
    )


def _proof(journal: Path) -> JournalProof:
    from watchgate import __version__
    from watchgate.core.report.html_page import JournalProof
    from watchgate.service.journal.verification import verify_journal

    verdict = verify_journal(journal)
    first, head = verdict.start.seq + 1, verdict.head
    words = f"unbroken from record {first:,} to record {head.seq:,}, {head.hash}"
    if verdict.problem is not None:
        words = verdict.problem.message
    return JournalProof(
        sound=verdict.problem is None,
        words=words,
        made_at=now_us(),
        program=f"watchgate {__version__}",
    )


def _write(pieces: Iterable[bytes], args: argparse.Namespace, what: Callable[[], str]) -> None:
    from watchgate.service.system.new_file import new_file

    if args.output == STDOUT:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    with new_file(args.output, force=args.force) as file:
        file.writelines(pieces)
    say(f"{what()} written to {args.output}")
