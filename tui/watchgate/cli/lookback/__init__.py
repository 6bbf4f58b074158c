"""`lookback`: what the agents on this machine asked for, judged from their own transcripts.

Transcripts come in, a report goes out. It imports base and core; the rest, and policy, as it runs.
"""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, progress
from watchgate.cli.base.since import now_us
from watchgate.cli.lookback.show_lookback import LookbackResult, as_json, as_page

if TYPE_CHECKING:
    from watchgate.agents.transcripts import TranscriptPlace
    from watchgate.core.lookback.lookback_fold import Lookback
    from watchgate.core.lookback.lookback_report import ModelCost
    from watchgate.link.paths import Paths
    from watchgate.service.usage.transcript_look import TranscriptLook

DAYS = 30
_US_PER_DAY = 86_400_000_000
_MAX_DAYS = 36_500


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "lookback",
        help="what your agents asked for lately, judged from their transcripts; changes nothing",
        epilog="example: watchgate lookback --days 7 --svg week.svg --private",
    )
    parser.add_argument(
        "--days", type=_days, default=DAYS, metavar="N", help=f"look so far back ({DAYS})"
    )
    parser.add_argument("--all", action="store_true", help="list every high and critical call")
    parser.add_argument("--json", action="store_true", help="a line of numbers, one for each call")
    parser.add_argument("--private", action="store_true", help="numbers alone: no call, no folder")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="also write the page as a picture")
    parser.add_argument("--force", action="store_true", help="take the place of an older picture")
    parser.set_defaults(run=_lookback)


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_DAYS:
        raise argparse.ArgumentTypeError(f"a number of days from 1 to {_MAX_DAYS:,}, not {text!r}")
    return int(text)


def _lookback(args: argparse.Namespace) -> int:
    from watchgate.agents.transcripts import transcript_places
    from watchgate.cli.lookback.lookback_page import reader_notes

    if args.svg is not None and args.svg.exists() and not args.force:
        raise Stop(f"{args.svg} is there already: --force takes its place")
    paths, now, home = here(sockets=False), now_us(), str(Path.home())
    since = now - args.days * _US_PER_DAY
    fold, policy_names = _fold(paths, home, since, now)
    places = transcript_places(os.environ, home)
    look, whole = _look(places, fold, since)
    report = fold.report()
    if not report.calls:
        return _nothing(places, look, args.days, home)
    notes = reader_notes(look, report, policy_names, whole=whole)
    cost = _cost(paths, home, since, now) if whole else None
    shown = LookbackResult(report=report, cost=cost, notes=notes, home=home)
    if args.json:
        as_json(shown, private=args.private)
    as_page(shown, args)
    return Exit.DONE


def _fold(paths: Paths, home: str, since_us: int, now: int) -> tuple[Lookback, str]:
    """Returns the fold that takes the calls in, and whose rules they are judged by."""
    from watchgate.cli.lookback.lookback_page import path_below_home
    from watchgate.core.lookback.lookback_fold import Lookback
    from watchgate.core.lookback.transcript_judge import TranscriptJudge
    from watchgate.service.hub.core_environment import real_environment
    from watchgate.service.policies.policy_store import read_policies
    from watchgate.service.system.local_days import local_day

    policies = read_policies(paths)
    if policies.fault:
        raise Stop(policies.fault)
    own = real_environment(paths).protected
    # Of no folder: a project's own file can only tighten, and may not have been there then.
    judge = TranscriptJudge(policies(""), home=home, own=own, now_us=now)
    files = [path_below_home(origin, home) for origin, _ in policies.files]
    policy_names = " and ".join(("the shipped policy", *files))
    return Lookback(judge, since_us=since_us, now_us=now, day_of=local_day), policy_names


def _look(
    places: tuple[TranscriptPlace, ...], fold: Lookback, since_us: int
) -> tuple[TranscriptLook, bool]:
    """Looks at every transcript; Ctrl-C ends the look, and what was found is shown."""
    from watchgate.service.usage.transcript_look import TranscriptLook

    look = TranscriptLook(places, fold, since_us=since_us)
    words = f"of {len(look.files):,} transcripts read; Ctrl-C shows what is found"
    with progress(words) as show, suppress(KeyboardInterrupt):
        look.run(lambda files, _calls: show(files))
        return look, True
    return look, False


def _cost(paths: Paths, home: str, since_us: int, now: int) -> ModelCost | None:
    """Returns the cost of it all; None where Ctrl-C left that out."""
    from watchgate.agents.usage import usage_places
    from watchgate.service.prices.price_files import FETCHED
    from watchgate.service.prices.prices import Prices
    from watchgate.service.system.local_days import local_day
    from watchgate.service.usage.transcript_look import lookback_cost

    prices = Prices(configured(paths).price, fetched=paths.data_dir / FETCHED, now_us=now)
    with progress("costs added up; Ctrl-C leaves them out") as show, suppress(KeyboardInterrupt):
        show(0)
        return lookback_cost(usage_places(os.environ, home), prices, since_us, local_day)
    return None


def _nothing(
    places: tuple[TranscriptPlace, ...], look: TranscriptLook, days: int, home: str
) -> int:
    """Says where was looked, and what to do about it."""
    from watchgate.cli.lookback.lookback_page import path_below_home, unreadable_words

    complain(f"no agent asked for anything in the last {days} days, as far as its files tell")
    if look.unreadable_files or look.unreadable_lines:
        complain(unreadable_words(look))
    for agent, root in dict.fromkeys((place.agent, place.root) for place in places):
        there = "" if Path(root).is_dir() else "  (not there)"
        complain(f"  looked in {path_below_home(root, home)} for {agent}{there}")
    complain(f"look further back with --days {max(365, days * 2)}, or see `watchgate demo`")
    return Exit.REFUSED
