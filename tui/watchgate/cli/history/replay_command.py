"""`replay`: a recorded session once more, in the console or, with `--headless`, decided again."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import (
    PROFILES,
    UNATTENDED,
    agents_known,
    configured,
    here,
)
from watchgate.cli.base.printing import Exit, Stop, complain, json_line
from watchgate.cli.history.recorded import own_journal, session_called, written_out

if TYPE_CHECKING:
    from watchgate.core.model.records import Record
    from watchgate.service.replaying.replay_comparison import ReplayResult

_HEADLESS = ("check", "policy", "profile", "unattended")


def in_console(records: Sequence[Record], *, speed: float = 1.0) -> int:
    """Plays records, at least one and oldest first; returns the exit code.

    Raises `Stop` without a terminal, and for a configuration that cannot be used.
    """
    from watchgate.agents.registry import ADAPTERS, agent_titles
    from watchgate.cli.base.console_keys import check_keys
    from watchgate.cli.console.console_command import need_terminal, open_console
    from watchgate.ui.source.agent_titles import use_titles
    from watchgate.ui.source.replay_source import Recording

    need_terminal()
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    try:
        known = agents_known(paths, config).values()
    except Stop:  # a recording is shown also where an agent's own table is wrong
        known = ADAPTERS.values()
    use_titles(agent_titles(known))
    return open_console(paths, config, replay=Recording(records, speed))


def add_parser(commands: Any) -> None:
    """Adds the command."""
    from watchgate.cli.console.console_command import speed

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
    if args.headless:
        return _headless(_recorded(args.session), args)
    if given := [f"--{name}" for name in _HEADLESS if getattr(args, name)]:
        raise Stop(f"{given[0]} needs --headless: the console shows what was decided", Exit.USAGE)
    return in_console(_recorded(args.session), speed=args.speed or 1.0)


def _recorded(word: str | None) -> list[Record]:
    """The records of a session or an exported file, oldest first, at least one."""
    from watchgate.service.history.recorded_sessions import PastError, find_session, records_of
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.journal.verification import ExportError, is_export, read_export

    try:
        if word is not None and is_export(word):
            return read_export(Path(word))
        written_out()
        journal = own_journal()
        return records_of(journal, *find_session(journal, word and session_called(word)))
    except (ExportError, JournalError, PastError) as fault:
        raise Stop(str(fault)) from None


def _headless(records: list[Record], args: argparse.Namespace) -> int:
    paths = here()
    config = configured(paths, profile=args.profile, unattended=args.unattended)
    policy = Path(args.policy) if args.policy else None
    if policy is not None and not policy.exists():
        raise Stop(f"there is no file {args.policy}")
    from watchgate.core.policy.rules.load import PolicyError
    from watchgate.service.hub.components import ComponentError
    from watchgate.service.replaying.replay_comparison import (
        PolicyFault,
        decide_again,
        replay_gates,
        replay_handlers,
    )

    try:
        gates = replay_gates(paths, config, policy=policy)
        handlers = replay_handlers(paths, config, os.environ)
        again = decide_again(records, config, gates, handlers, agents_known(paths, config))
    except (PolicyError, PolicyFault, ComponentError) as fault:
        raise Stop(str(fault)) from None
    for each in again.differences:
        json_line(each)
    complain(_summary(again))
    return Exit.REFUSED if args.check and again.differences else Exit.DONE


def _summary(again: ReplayResult) -> str:
    summary = f"{len(again.differences)} of {again.decided} decisions differ"
    if not again.left_out:
        return summary
    reasons = "; ".join(f"{count}: {why}" for why, count in sorted(again.left_out.items()))
    return f"{summary}; not decided again: {reasons}"
