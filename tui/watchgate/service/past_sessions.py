"""Recorded sessions by the word that a person has for them, and their records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from watchgate.core.records import Record
from watchgate.core.text import safe_text
from watchgate.service.journal.reading import Held
from watchgate.service.search import sessions
from watchgate.service.search.filling import Seen

MIN_PREFIX = 4
_NAMED = 5
"""So many of several candidates, the newest, an error names."""


class PastError(ValueError):
    """A word means no session, or more than one; the message says what to write."""


class SeveralError(PastError):
    """A word means more than one session."""


def find(journal: Path, word: str | None) -> tuple[str, str]:
    """Returns agent and id of the session that a word means; without a word the newest one.

    A word is a whole id, `AGENT:ID`, four or more characters that one id alone begins with, or the
    session's name on screen. Raises `PastError`, and `JournalError` like `journal.reading`.
    """
    known = sessions.all_of(journal)
    if not known:
        raise PastError("no session was recorded yet")
    matches = known[:1] if word is None else _meant(known, word)
    if not matches:
        raise PastError(
            f"no recorded session is {safe_text(word or '')[:60]!r}: give its id, {MIN_PREFIX} "
            "characters or more of it, AGENT:ID, or its name on screen"
        )
    if len(matches) > 1:
        raise SeveralError(_several(word or "", matches))
    return matches[0].agent, matches[0].session


def records_of(journal: Path | Held, agent: str, session: str) -> list[Record]:
    """Returns the records of a session, oldest first; raises `JournalError`."""
    return list(sessions.records_of(journal, agent, session))


def _meant(known: Sequence[Seen], word: str) -> list[Seen]:
    """Returns the sessions that a word may mean, by the surest way that leads to any."""
    agent, _, id = word.partition(":")
    # Earlier releases counted the sessions of a folder: by such a number all of them are meant.
    base, _, beginning = word.rpartition("~")
    ways = (
        [each for each in known if each.session == word],
        [each for each in known if (each.agent, each.session) == (agent, id)],
        _begun(known, word),
        _begun([each for each in known if each.agent == agent], id),
        [each for each in known if base and _is_called(each, base, beginning)],
        [each for each in known if each.folder == (base if beginning.isdecimal() else word)],
    )
    return next(filter(None, ways), [])


def _is_called(each: Seen, folder: str, beginning: str) -> bool:
    """Returns whether a session goes by the name of its folder and the beginning of its id."""
    id = "".join(char for char in each.session if char.isalnum())
    return each.folder == folder and beginning != "" and id.startswith(beginning)


def _begun(known: Sequence[Seen], prefix: str) -> list[Seen]:
    return [each for each in known if len(prefix) >= MIN_PREFIX and each.session.startswith(prefix)]


def _several(word: str, newest: Sequence[Seen]) -> str:
    named = "; ".join(
        f"{safe_text(each.agent)}:{safe_text(each.session)} (began {_local_time(each.first_at)})"
        for each in newest[:_NAMED]
    )
    more = f"; and {len(newest) - _NAMED} older" if len(newest) > _NAMED else ""
    return f"{safe_text(word)[:60]!r} may be any of {len(newest)} sessions: {named}{more}"


def _local_time(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"
