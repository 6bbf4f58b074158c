"""`audit verify`: is the journal what was written?"""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import json_line, say
from watchgate.cli.place import here


def add_parser(commands: Any) -> None:
    """Add the command."""
    audit = commands.add_parser(
        "audit", help="check the journal", epilog="example: watchgate audit verify"
    )
    verbs = audit.add_subparsers(title="commands", metavar="verify", required=True)
    verify = verbs.add_parser(
        "verify",
        help="walk the hash chain and name the first record that is wrong",
        epilog="example: watchgate audit verify --json",
    )
    verify.add_argument("--json", action="store_true", help="one JSON object")
    verify.set_defaults(run=_verify)


def _verify(args: argparse.Namespace) -> int:
    from watchgate.service.journal_read import verify
    from watchgate.service.journal_schema import JournalError

    journal = here().journal
    if not journal.exists():
        raise Stop(f"no journal at {journal}: nothing was recorded yet")
    try:
        verdict = verify(journal)
    except JournalError as fault:
        raise Stop(str(fault)) from None
    problem = verdict.problem
    if args.json:
        json_line(
            {
                "ok": problem is None,
                "records": verdict.count,
                "seq": verdict.head.seq,
                "hash": verdict.head.hash,
                "problem": None if problem is None else problem.message,
                "problem_seq": None if problem is None else problem.seq,
            }
        )
    elif problem is None:
        say(f"{verdict.count} records, unbroken up to {verdict.head.seq}: {verdict.head.hash}")
    else:
        say(f"{problem.message} ({verdict.count} sound records before it)")
    return Exit.DONE if problem is None else Exit.REFUSED
