"""What the policy is asked about: one call, who makes it, and where."""

from __future__ import annotations

import msgspec

from watchgate.core.events import Tool


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One call as the policy sees it.

    `cwd` is the session's folder and `home` the user's, absolute or empty where unknown; `own` are
    the absolute paths of our own files and of the settings that put us in the agents' way.
    """

    tool: Tool
    agent: str = ""
    session: str = ""
    cwd: str = ""
    home: str = ""
    own: tuple[str, ...] = ()
