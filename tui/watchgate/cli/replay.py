"""`replay`: a recorded session once more, in the console or, with `--headless`, decided again."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, json_line
from watchgate.cli.place import PROFILES, UNATTENDED, agents_known, configured, here
from watchgate.cli.recorded import own_journal, session_called, written_out

if TYPE_CHECKING:
    from watchgate.core.records import Record
    from watchgate.service.replaying.again import Again

_HEADLESS = ("check", "policy", "profile", "unattended")


def add_parser(commands: Any) -> None:
    """Add the command."""
    from watchgate.cli.console import speed

    replay = commands.add_parser(
        "replay",
        help="a recorded session once more: in the console, or decided again",
        epilog="example: watchgate replay --headless --policy new.toml build.jsonl (exported)",
    )
    replay.add_argument(
        "session",
        nargs="?",
        metavar="SESSION|FILE",
        help="a session's id, its beginning or its name, or an exported file; else the newest",
    )
    replay.add_argument("--speed", type=speed, metavar="N", help="N times as fast, in the console")
    replay.add_argument(
        "--headless",
        action="store_true",
        help="decide everything again, and print each difference as a JSON line",
    )
    replay.add_argument("--check", action="store_true", help="exit 1 if there is a difference")
    replay.add_argument("--policy", metavar="FILE", help="a policy file in the place of your own")
    replay.add_argument("--profile", choices=PROFILES, help="another profile than the configured")
    replay.add_argument(
        "--unattended", choices=UNATTENDED, help="as the core was started with, if it was"
    )
    replay.set_defaults(run=_replay)


def _replay(args: argparse.Namespace) -> int:
    if args.headless and args.speed is not None:
        raise Stop("--speed is for the console: without a screen nothing is waited for", Exit.USAGE)
    given = [f"--{name}" for name in _HEADLESS if getattr(args, name)]
    if given and not args.headless:
        raise Stop(f"{given[0]} needs --headless: the console shows what was decided", Exit.USAGE)
    records = _recorded(args.session)
    if args.headless:
        return _headless(records, args)
    from watchgate.cli.replaying import in_console

    return in_console(records, speed=args.speed or 1.0)


def _recorded(word: str | None) -> list[Record]:
    """The records of a session or an exported file, oldest first, at least one."""
    from watchgate.service.exported import ExportError, is_export, read_export
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.past_sessions import PastError, find, records_of

    try:
        if word is not None and is_export(word):
            return read_export(Path(word))
        written_out()
        journal = own_journal()
        return records_of(journal, *find(journal, word and session_called(word)))
    except (ExportError, JournalError, PastError) as fault:
        raise Stop(str(fault)) from None


def _headless(records: list[Record], args: argparse.Namespace) -> int:
    paths = here()
    config = configured(paths, profile=args.profile, unattended=args.unattended)
    if args.policy and not Path(args.policy).exists():
        raise Stop(f"there is no file {args.policy}")
    from watchgate.core.policy.load import PolicyError
    from watchgate.service.equipment import EquipmentError
    from watchgate.service.replaying.again import decide_again
    from watchgate.service.replaying.equipped import PolicyFault, handlers, judges

    try:
        again = decide_again(
            records,
            config,
            judges(paths, config, policy=Path(args.policy) if args.policy else None),
            handlers(paths, config, os.environ),
            agents_known(paths, config),
        )
    except (PolicyError, PolicyFault, EquipmentError) as fault:
        raise Stop(str(fault)) from None
    for each in again.differences:
        json_line(each)
    complain(_summary(again))
    return Exit.REFUSED if args.check and again.differences else Exit.DONE


def _summary(again: Again) -> str:
    summary = f"{len(again.differences)} of {again.decided} decisions differ"
    if not again.left_out:
        return summary
    reasons = "; ".join(f"{count}: {why}" for why, count in sorted(again.left_out.items()))
    return f"{summary}; not decided again: {reasons}"
