"""`audit verify` and `audit anchor`: is the journal what was written, and how far does it go?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, progress, say
from watchgate.cli.history.recorded import own_journal

if TYPE_CHECKING:
    from pathlib import Path

    from watchgate.core.chain.hash_chain import Head, Verdict

FILE = "a journal.db elsewhere, or a file of `watchgate export`; this user's journal without it"

NOT_WHOLE = (
    "an export with a filter leaves records out, and `tail` prints more of each than the journal "
    "keeps: only what `watchgate export` wrote without a filter can be verified"
)


def add_parser(commands: Any) -> None:
    """Add the command."""
    audit = commands.add_parser(
        "audit", help="check the journal", epilog="example: watchgate audit verify"
    )
    verbs = audit.add_subparsers(title="commands", metavar="verify|anchor", required=True)
    verify = verbs.add_parser(
        "verify",
        help="walk the hash chain and name the first record that is wrong",
        epilog="example: watchgate audit verify --anchor 1204:9f2c... --json",
    )
    verify.add_argument("file", nargs="?", metavar="FILE", help=FILE)
    verify.add_argument(
        "--anchor",
        type=_anchor,
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help="what `watchgate audit anchor` printed before; may be given several times",
    )
    verify.add_argument("--json", action="store_true", help="one JSON object")
    verify.set_defaults(run=_verify)
    anchor = verbs.add_parser(
        "anchor",
        help="verify, then print the newest record's number and hash for keeping elsewhere",
        epilog="example: watchgate audit anchor >> /mnt/elsewhere/anchors",
    )
    anchor.add_argument("file", nargs="?", metavar="FILE", help=FILE)
    anchor.add_argument("--json", action="store_true", help="one JSON object")
    anchor.set_defaults(run=_anchored)


def _anchor(text: str) -> Head:
    from watchgate.core.chain.chain_walk import anchor_of

    try:
        return anchor_of(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


def _verify(args: argparse.Namespace) -> int:
    verdict, exported = _judged(args.file, args.anchor)
    problem = verdict.problem
    for each in verdict.older:
        complain(f"the anchor of record {each.seq} is older than the oldest record that is kept")
    if args.json:
        json_line(
            {
                "ok": problem is None,
                "records": verdict.count,
                "seq": verdict.head.seq,
                "hash": verdict.head.hash,
                "problem": None if problem is None else problem.message,
                "problem_seq": None if problem is None else problem.seq,
                "removed_to": verdict.start.seq,
                "purged": verdict.purged,
                "after_head_file": verdict.unheaded,
                "anchors_too_old": [each.seq for each in verdict.older],
            }
        )
    elif problem is None:
        say(f"{verdict.count} records, unbroken up to {verdict.head.seq}: {verdict.head.hash}")
        for line in _remarks(verdict, exported=exported):
            say(line)
    else:
        say(f"{problem.message} ({verdict.count} sound records before it)")
    return Exit.DONE if problem is None else Exit.REFUSED


def _anchored(args: argparse.Namespace) -> int:
    from watchgate.core.chain.chain_walk import anchor_text

    verdict, _ = _judged(args.file, [])
    if verdict.problem is not None:
        raise Stop(
            f"no anchor of a journal that is not what was written: {verdict.problem.message}"
        )
    if not verdict.head.seq:
        raise Stop("the journal is empty: there is nothing to anchor yet")
    if args.json:
        json_line({"seq": verdict.head.seq, "hash": verdict.head.hash})
    else:
        say(anchor_text(verdict.head))
    return Exit.DONE


def _remarks(verdict: Verdict, *, exported: bool) -> list[str]:
    """List what a sound journal does not hold any more, and what nothing else vouches for."""
    remarks = []
    if verdict.start.seq and exported:
        remarks.append(f"the file begins behind record {verdict.start.seq}")
    elif verdict.start.seq:
        remarks.append(f"removed earlier, as a checkpoint says: up to record {verdict.start.seq}")
    if verdict.purged:
        remarks.append(f"purged, with only the digest of their data left: {verdict.purged}")
    if verdict.unheaded:
        remarks.append(
            f"newer than journal.head: {verdict.unheaded} (the core was killed before it could "
            "name them there, or somebody added them)"
        )
    return remarks


def _judged(file: str | None, anchors: list[Head]) -> tuple[Verdict, bool]:
    """Walk the journal or an exported file; return the verdict and which of them it was."""
    from pathlib import Path

    from watchgate.service.journal import verification
    from watchgate.service.journal import verification as journal_verify
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.journal.verification import ExportError

    path = own_journal() if file is None else _named(Path(file))
    try:
        exported = file is not None and not verification.is_database(path)
        walk = verification.verify_export if exported else journal_verify.verify_journal
        with progress("records") as count:
            verdict = walk(path, anchors=anchors, progress=count)
    except (JournalError, ExportError) as fault:
        raise Stop(str(fault)) from None
    if exported and verdict.problem is not None:
        complain(NOT_WHOLE)
    return verdict, exported


def _named(path: Path) -> Path:
    if not path.exists():
        raise Stop(f"{path} does not exist: name a journal.db or a file of `watchgate export`")
    return path
