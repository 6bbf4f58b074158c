"""Recorded history, for commands that read the journal beside a core or without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from watchgate.cli.base.ask import Unreached, ask
from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain

if TYPE_CHECKING:
    from pathlib import Path


def own_journal() -> Path:
    """The journal of this user; where there is none yet the command ends."""
    journal = here().journal
    if not journal.exists():
        raise Stop(f"no journal at {journal}: nothing was recorded yet", Exit.NO_CORE)
    return journal


def written_out() -> str:
    """The id of the running core, which has brought to its disk what waited; empty without one."""
    from watchgate.link.protocol import Request

    try:
        hello = ask(Request(id=1, verb="hello"))["hello"]
        ask(Request(id=1, verb="history", from_seq=hello["seq"], to_seq=hello["seq"]))
    except Unreached:
        return ""
    except Stop as stop:
        complain(f"the newest records may be missing, the core did not write them out: {stop}")
        return ""
    return str(hello["core"])


def session_called(word: str) -> str:
    """AGENT:ID of the one session that the running core, and so History, calls so; else the word.

    Those that ended gave their names back, so one that lives goes before them.
    """
    from watchgate.core.model.sessions import SessionState
    from watchgate.link.protocol import Request

    try:
        listed = ask(Request(id=1, verb="list", what="sessions"))["sessions"]
    except Stop:
        return word
    named = [each for each in listed if each["label"] == word]
    if len(named) > 1:
        named = [each for each in named if each["state"] != SessionState.GONE]
    return f"{named[0]['agent']}:{named[0]['session']}" if len(named) == 1 else word
