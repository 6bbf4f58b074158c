"""Permission options are mapped to decisions.

Ids differ from agent to agent and names are for people, so the kind decides (agents may offer
several options of one kind). An option for always, or one that changes a mode beside, is never
taken: nobody gave that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.agents.proxied.wrapped import items, word

_MORE_THAN_ONCE = re.compile(
    r"mode|always|switch|session|auto|yolo|bypass|every|again|without|\ball\b|forever|permanent"
    r"|remember|trust|for .{0,9}project|accept.?edits",
    re.IGNORECASE,
)


class Options(msgspec.Struct, frozen=True):
    """The ids of the options that allow and deny this one call; empty where there is none."""

    allow: str = ""
    deny: str = ""


def options_of(offered: Any) -> Options:
    """Returns the options of a permission request that allow and deny the call."""
    known = items(offered)
    return Options(allow=_plain(known, "allow_once"), deny=_plain(known, "reject_once"))


def _plain(offered: Iterable[dict[str, Any]], kind: str) -> str:
    """Returns the id of the first option of a kind that does nothing beyond it.

    An id is what the agent acts on, so a doubtful name or id is enough to pass an option over, and
    one that several options have may mean any of them.
    """
    known = list(offered)
    times = Counter(word(option.get("optionId")) for option in known)
    for option in known:
        id, name = word(option.get("optionId")), word(option.get("name"))
        plain = times[id] == 1 and not _MORE_THAN_ONCE.search(f"{id} {name}")
        if option.get("kind") == kind and id and plain:
            return id
    return ""


def allowing(offered: Any) -> list[str]:
    """Returns the ids of all options that let the call run."""
    kinds = ("allow_once", "allow_always")
    return [word(each.get("optionId")) for each in items(offered) if each.get("kind") in kinds]
