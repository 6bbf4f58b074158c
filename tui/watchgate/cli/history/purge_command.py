"""`purge`: drop what was recorded of a session, and keep the digests that prove it was there."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.base.ask import Unreached, ask
from watchgate.cli.base.command_environment import configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.cli.base.typed_input import needs_terminal, typed
from watchgate.cli.history.recorded import own_journal, written_out

PURGE_MEANS = (
    "Purged, the commands, inputs and texts of the session are gone from the journal for good; who "
    "decided what about them cannot be read any more. Times, kinds and digests stay, and the chain "
    "still verifies. What was exported, sent to a sink or copied elsewhere is not touched."
)
STILL_IN_LOG = (
    "another program is reading the journal, so that journal.db-wal may still hold what was "
    "dropped: end that one and run the same command again"
)


def add_parser(commands: Any) -> None:
    """Adds the command."""
    purge = commands.add_parser(
        "purge",
        help="drop what was recorded of a session; the digests stay",
        epilog="example: watchgate purge --session claude:4f1c   (asks for a typed word)",
    )
    purge.add_argument(
        "--session",
        required=True,
        metavar="[AGENT:]SESSION",
        help="its whole id, the beginning of it (4 characters or more), or its name on the screen",
    )
    purge.add_argument("--yes", action="store_true", help="do not ask for a typed word")
    purge.add_argument("--json", action="store_true", help="one JSON object")
    purge.set_defaults(run=_purge)


def _purge(args: argparse.Namespace) -> int:
    if not args.yes:
        needs_terminal("purge needs a terminal, where a person types the word, or --yes")
    agent, session = _meant(args.session)
    if not args.yes:
        say(PURGE_MEANS)
        if typed(f"Type purge to drop what was recorded of {agent}:{session}: ") != "purge":
            raise Stop("nothing was changed; everything is still recorded")
    done = _done(agent, session)
    if not done["emptied"]:
        complain(STILL_IN_LOG)
    if args.json:
        json_line({"agent": agent, "session": session, **done})
    elif done["records"]:
        say(f"{done['records']} records of {agent}:{session}, up to {done['upto']}, are purged.")
    else:
        say(f"Nothing was left to purge of {agent}:{session}.")
    return Exit.DONE


def _meant(word: str) -> tuple[str, str]:
    """The agent and the id of the session that a word means."""
    from watchgate.service.history.recorded_sessions import PastError, find_session
    from watchgate.service.journal.schema import JournalError

    written_out()
    try:
        return find_session(own_journal(), word)
    except (PastError, JournalError) as fault:
        raise Stop(str(fault)) from None


def _done(agent: str, session: str) -> dict[str, Any]:
    """Purges through the core, or by this command itself where none runs."""
    from watchgate.link.protocol import Request

    try:
        return ask(Request(id=1, verb="purge", agent=agent, session=session))
    except Unreached:
        return _alone(agent, session)


def _alone(agent: str, session: str) -> dict[str, Any]:
    import os

    from watchgate.service.control.caller import user
    from watchgate.service.history.session_purge import purge_alone
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.system.runtime_dir import RuntimeDirError
    from watchgate.service.system.system_clock import SystemClock

    paths = here()
    try:
        purged, emptied = purge_alone(
            paths,
            agent,
            session,
            by=f"operator {user()} (pid {os.getpid()}, no core)",
            at=SystemClock().now().wall_us,
            content=configured(paths).journal.content,
        )
    except (RuntimeDirError, JournalError, OSError) as fault:
        raise Stop(str(fault)) from None
    upto = purged.seqs[-1] if purged.seqs else 0
    return {"records": len(purged.seqs), "upto": upto, "emptied": emptied}
