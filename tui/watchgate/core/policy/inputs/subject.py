"""The subject of an assessment: one call, who makes it, and where."""

from __future__ import annotations

import msgspec

from watchgate.core.model.events import Tool

Links = tuple[tuple[str, str], ...]
"""Absolute normalised paths of links, each with the absolute path that it leads to."""

NOBODY = "~unknown"
"""Target of a link that nobody looked at: the home of nobody lies outside of every folder."""

# Whatever the call names may lead elsewhere, since nobody looked at all of it.
UNKNOWN: Links = (("/", NOBODY),)

# What a session has changed, where nobody can tell any more.
EVERYTHING = frozenset(("/",))


class Fetched(msgspec.Struct, frozen=True):
    """The absolute paths of what came from elsewhere: files, and folders of whole repositories."""

    files: frozenset[str] = frozenset()
    clones: frozenset[str] = frozenset()


NOTHING_FETCHED = Fetched()


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One call as the policy gets it.

    `cwd` is the session's folder and `home` the user's, absolute or empty where unknown; `own` are
    the absolute paths of our own files and of the settings that put us in the agents' way. `links`
    are the symbolic links that the call's words name or lead through, each with what it leads to.
    `changed` are the absolute paths of files that the session wrote before, `fetched` what it
    fetched, `own_pids` the numbers in its command that are processes of ours, None where nobody
    looked.
    """

    tool: Tool
    agent: str = ""
    session: str = ""
    cwd: str = ""
    home: str = ""
    own: tuple[str, ...] = ()
    links: Links = ()
    changed: frozenset[str] = frozenset()
    fetched: Fetched = NOTHING_FETCHED
    own_pids: frozenset[int] | None = None
