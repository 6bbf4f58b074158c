"""One moment with everything in it, and the same with every name from far away or hostile."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.ui.cost_picture import usage
from tests.ui.past_picture import past
from tests.ui.picture import busy, critical_request
from tests.ui.trace_picture import traced
from watchgate.core.history.history_row import HistoryRow
from watchgate.link.protocol import Snapshot

FLAG = "\U0001f1e9\U0001f1ea"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WORDS = (
    f"\u6f22\u5b57{FAMILY}",
    f"{FLAG}\u2764\ufe0f\U0001f44d\U0001f3fd",
    "e\u0301\u0308 a\u0336\u200b",
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d",
    "\uac00\ub098\t\uff21\u3000",
)
"""Wide characters, emoji joined and coloured, flags, marks, right to left, tabs and fillers."""

LONG = "\u9577" * 10_000

_NAMES = frozenset(
    "label agent tool native_name native summary cwd session sub sub_type name type model reason "
    "rule by handler text cause paused_why command file_path mode suggest outcome".split()
)


def everything() -> Snapshot:
    """The busy moment with its traces and its costs."""
    return msgspec.structs.replace(traced(), usage=usage())


def foreign(snapshot: Snapshot, words: str, *, before: bool = True) -> Snapshot:
    """The snapshot with these words before (or after) every name and text from outside."""
    plain = msgspec.to_builtins(snapshot)
    return msgspec.convert(_renamed(plain, words, before=before), Snapshot)


def foreign_past(words: str) -> tuple[HistoryRow, ...]:
    """The days that the history finds, renamed in the same way."""
    plain = msgspec.to_builtins(past())
    return msgspec.convert(_renamed(plain, words, before=True), tuple[HistoryRow, ...])


def longest() -> Snapshot:
    """A moment whose command and names are longer than any line, without a blank."""
    view = critical_request()
    tool = msgspec.structs.replace(view.data.tool, input={"command": LONG}, name=LONG)
    data = msgspec.structs.replace(
        view.data, tool=tool, summary=LONG, cwd="/" + LONG, reason=LONG, findings=(), segments=()
    )
    asked = msgspec.structs.replace(view, data=data, label=LONG, facts=())
    rows = tuple(msgspec.structs.replace(row, summary=LONG, label=LONG) for row in busy().rows)
    return msgspec.structs.replace(busy(), pending=(asked,), rows=rows)


def _renamed(value: Any, words: str, *, before: bool) -> Any:
    if isinstance(value, list | tuple):
        return [_renamed(each, words, before=before) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: (words + one if before else one + words)
        if key in _NAMES and isinstance(one, str) and one
        else _renamed(one, words, before=before)
        for key, one in value.items()
    }
