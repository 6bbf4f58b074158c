"""`audit verify` and `audit anchor`: is the journal what was written, and how far does it go?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, progress, say
from watchgate.cli.history.recorded import own_journal

if TYPE_CHECKING:
    from watchgate.core.chain.hash_chain import Head, Verification

FILE = "a journal.db elsewhere, or a file of `watchgate export`; this user's journal without it"


def add_parser(commands: Any) -> None:
    """Adds the command."""
    audit = commands.add_parser(
        "audit", help="check the journal", epilog="example: watchgate audit verify"
    )
    verbs = audit.add_subparsers(title="commands", metavar="verify|anchor", required=True)
    verify = verbs.add_parser(
        "verify",
        help="walk the hash chain and name the first record that is wrong",
        epilog="example: watchgate audit verify --anchor 1204:9f2c... --json",
    )
    verify.add_argument(
        "--anchor",
        type=_anchor,
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help="what `watchgate audit anchor` printed before; may be given several times",
    )
    verify.set_defaults(run=_verify)
    anchor = verbs.add_parser(
        "anchor",
        help="verify, then print the newest record's number and hash for keeping elsewhere",
        epilog="example: watchgate audit anchor >> /mnt/elsewhere/anchors",
    )
    anchor.set_defaults(run=_run_anchor)
    for verb in (verify, anchor):
        verb.add_argument("file", nargs="?", metavar="FILE", help=FILE)
        verb.add_argument("--json", action="store_true", help="one JSON object")


def _anchor(text: str) -> Head:
    from watchgate.core.chain.chain_walk import anchor_of

    try:
        return anchor_of(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


def _verify(args: argparse.Namespace) -> int:
    verification, exported = _verify_file(args.file, args.anchor)
    head, problem = verification.head, verification.problem
    for each in verification.older:
        complain(f"the anchor of record {each.seq} is older than the oldest record that is kept")
    if args.json:
        json_line(
            {
                "ok": problem is None,
                "records": verification.count,
                "seq": head.seq,
                "hash": head.hash,
                "problem": None if problem is None else problem.message,
                "problem_seq": None if problem is None else problem.seq,
                "removed_to": verification.start.seq,
                "purged": verification.purged,
                "after_head_file": verification.unheaded,
                "anchors_too_old": [each.seq for each in verification.older],
            }
        )
    elif problem is None:
        say(f"{verification.count} records, unbroken up to {head.seq}: {head.hash}")
        _say_remarks(verification, exported=exported)
    else:
        say(f"{problem.message} ({verification.count} sound records before it)")
    return Exit.DONE if problem is None else Exit.REFUSED


def _run_anchor(args: argparse.Namespace) -> int:
    from watchgate.core.chain.chain_walk import anchor_text

    verification, _ = _verify_file(args.file, [])
    head, problem = verification.head, verification.problem
    if problem is not None:
        raise Stop(f"no anchor of a journal that is not what was written: {problem.message}")
    if not head.seq:
        raise Stop("the journal is empty: there is nothing to anchor yet")
    if args.json:
        json_line({"seq": head.seq, "hash": head.hash})
    else:
        say(anchor_text(head))
    return Exit.DONE


def _say_remarks(verification: Verification, *, exported: bool) -> None:
    """Says what a sound journal does not hold any more, and what nothing else vouches for."""
    if verification.start.seq and exported:
        say(f"the file begins behind record {verification.start.seq}")
    elif verification.start.seq:
        say(f"removed earlier, as a checkpoint says: up to record {verification.start.seq}")
    if verification.purged:
        say(f"purged, with only the digest of their data left: {verification.purged}")
    if verification.unheaded:
        why = "the core was killed before it could name them there, or somebody added them"
        say(f"newer than journal.head: {verification.unheaded} ({why})")


def _verify_file(file: str | None, anchors: list[Head]) -> tuple[Verification, bool]:
    """Walks the journal or an exported file; returns the verification and which of them it was."""
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.journal.verification import (
        ExportError,
        is_database,
        verify_export,
        verify_journal,
    )

    path = own_journal() if file is None else Path(file)
    if not path.exists():
        raise Stop(f"{path} does not exist: name a journal.db or a file of `watchgate export`")
    try:
        exported = file is not None and not is_database(path)
        walk = verify_export if exported else verify_journal
        with progress("records") as count:
            verification = walk(path, anchors=anchors, progress=count)
    except (JournalError, ExportError) as fault:
        raise Stop(str(fault)) from None
    if exported and verification.problem is not None:
        complain(
            "an export with a filter leaves records out, and `tail` prints more of each than the "
            "journal keeps: only what `watchgate export` wrote without a filter can be verified"
        )
    return verification, exported
