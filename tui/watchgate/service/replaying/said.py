"""Restores a handler's verdict from its row in a recorded trace.

A row keeps the kind of a verdict and its words, not the verdict: the words are taken apart
again. A rewrite is found in the request that was made of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, cast, get_args

from watchgate.core.dispatch import CANCELLED, DETAIL_CHARS
from watchgate.core.records import TraceData
from watchgate.core.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    TraceRow,
    Verdict,
)

_NO_INPUT: Final = "a rewrite without an input"
_FAILED_OPEN: Final = "it failed, and fails open"
_PREFIXES: Final = (
    "only watched here",
    CANCELLED,
    _NO_INPUT,
    _FAILED_OPEN,
    re.compile(r"it is registered as \w+"),
    re.compile(r"\w+ is not allowed at [\w.]+"),
    re.compile(r"[\w-]+ takes no text for the model"),
)
"""What may stand before the words of a verdict that had no say."""

_SIMPLE: Final[dict[str, Callable[[str], Verdict]]] = {
    "allow": Allow,
    "block": Block,
    "abort": Abort,
    "confirm": Confirm,
    "defer": Defer,
}
_LENGTH: Final = re.compile(r"(\d+) characters for the model")


def cut_short(row: TraceRow) -> bool:
    """Returns whether the handler was ended because nobody waited for it any more."""
    return row.verdict == "failed" and row.detail.endswith(CANCELLED)


def said(row: TraceRow, trace: TraceData, rewritten: dict[str, Any] | None) -> Verdict | None:
    """Returns the verdict of a handler that ran; None where the recording does not say.

    `rewritten` is the input that a rewrite made of the call, where it was recorded.
    """
    own = _own_words(row)
    if len(own) == DETAIL_CHARS and trace.reason.startswith(own):
        own = trace.reason
    if (simple := _SIMPLE.get(row.verdict or "")) is not None:
        return simple(own)
    if row.verdict == "inject" and (length := _LENGTH.fullmatch(own)):
        return Inject("?" * int(length[1]))
    if row.verdict == "modify":
        of_this = trace.decided_by == row.handler
        words = row.detail + (trace.reason if of_this else "")
        if _NO_INPUT in words or _FAILED_OPEN in words:
            return Modify(None, own)
        return None if rewritten is None else Modify(rewritten, own)
    cause, _, detail = own.partition(": ")
    if row.verdict == "failed" and cause in get_args(FailureCause):
        return Failed(cast("FailureCause", cause), detail)
    return None


def _own_words(row: TraceRow) -> str:
    """Returns the detail without the reasons for which the verdict had no say."""
    words = row.detail
    if not row.ignored:
        return words
    for prefix in _PREFIXES:
        if isinstance(prefix, str):
            matches = words.startswith(prefix)
            length = len(prefix)
        else:
            matched = prefix.match(words)
            matches, length = matched is not None, matched.end() if matched else 0
        if matches:
            words = words[length:].removeprefix(": ")
    return words
