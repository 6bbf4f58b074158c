"""Transcripts that hooks have named: their paths are hints, which may be wrong."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence

from watchgate.agents.usage import UsageForm, UsagePlace
from watchgate.service.usage.file_index import FileIndex
from watchgate.service.usage.file_scan import UsageFile
from watchgate.service.usage.followed_file import FollowedFile

MAX_NOTES = 1000
"""Notes that wait; the oldest give way."""
LOOKS = 3
"""So often a session is looked for in all folders of its agent."""
MAX_OUTSIDE = 200
"""So many transcripts outside the known places have their sub-agents looked for."""
SESSION_CHARS = 8
"""A shorter id of a session is no name of a file."""

_FORMS: dict[str, UsageForm] = {".jsonl": "lines", ".json": "whole"}


class TranscriptHints:
    """Takes hints from any thread; they are resolved by the thread that reads."""

    def __init__(self, places: Sequence[UsagePlace]) -> None:
        self._roots = tuple(dict.fromkeys(os.path.realpath(place.root) + "/" for place in places))
        self._notes: deque[tuple[str, str, str]] = deque(maxlen=MAX_NOTES)
        self._sought: dict[tuple[str, str], int] = {}
        self._outside: set[str] = set()

    def note(self, agent: str, session: str, path: str) -> None:
        """Takes a hook's word on a session, and on a transcript if `path` is not empty."""
        self._notes.append((agent, session, path))

    def searches(self, agent: str) -> bool:
        """Returns whether all folders of an agent should be listed, as a session is missing."""
        sought = [key for key in self._sought if key[0] == agent]
        for key in sought:
            self._sought[key] -= 1
            if not self._sought[key]:
                del self._sought[key]
        return bool(sought)

    def take(self, known: FileIndex) -> Iterator[FollowedFile | UsageFile | UsagePlace]:
        """Yields what is to be read first: a followed file, a new one, or a place to look in."""
        notes = {}
        while self._notes:
            agent, session, path = self._notes.popleft()
            notes[agent, session] = path
        for (agent, session), path in notes.items():
            yield from self._worked_out(known, agent, session, path)

    def _worked_out(
        self, known: FileIndex, agent: str, session: str, path: str
    ) -> Iterator[FollowedFile | UsageFile | UsagePlace]:
        real = _regular(path)
        form = next((form for end, form in _FORMS.items() if path.endswith(end)), None)
        if real and (followed := known.files.get(real)) is not None:
            yield followed
        elif real and form is not None:
            yield UsageFile(real, agent, form)
            yield from self._subagents(agent, real)
        elif len(session) >= SESSION_CHARS:
            files = known.named(agent, session)
            yield from files
            if not files and (agent, session) not in self._sought:
                self._sought[agent, session] = LOOKS

    def _subagents(self, agent: str, path: str) -> Iterator[UsagePlace]:
        """Yields the folder of Claude Code's sub-agents for a transcript outside its places."""
        below = path.removesuffix(".jsonl") + "/subagents"
        if agent != "claude" or path.startswith(self._roots) or below in self._outside:
            return
        if len(self._outside) < MAX_OUTSIDE:
            self._outside.add(below)
            yield UsagePlace(agent=agent, root=below, pattern="**/*.jsonl")


def _regular(path: str) -> str:
    """Returns the path without links in its folders, if it is a regular file of this user's."""
    try:
        folder, slash, name = path.rpartition("/")
        if not path.startswith("/"):
            return ""
        real = os.path.realpath(folder or "/") + slash + name
        about = os.lstat(real)
    except (OSError, ValueError):
        return ""
    mine = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
    return real if mine else ""
