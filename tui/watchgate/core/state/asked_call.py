"""The call that an agent asked for, where another one runs in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from watchgate.core.model.call_row import AsAsked, CallRow
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import RequestData
from watchgate.core.tools.summary import in_columns

_ALLOWS: Final = ("+", "=", "?")
"""The glyphs of calls that run, or would run, in their newest form."""


class _Listed(Protocol):
    """A call as any kind of list row has it."""

    @property
    def tool(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def asked(self) -> AsAsked | None: ...


def line_of(call: _Listed) -> str:
    """Returns the line of a call in a list: what ran, and behind it what was asked for."""
    return _with_original(call.summary, call.asked)


def columns_of(call: _Listed, cells: int) -> tuple[str, str]:
    """Returns the texts of a list's columns: the tool, in so many cells, and the call."""
    tool, line = in_columns(call.tool, call.summary, cells)
    return tool, _with_original(line, call.asked)


def as_it_ran(words: str, asked: AsAsked | None) -> str:
    """Returns the words for a call that ran; earlier versions wrote `approved` of an edit, too."""
    return f"ran as {asked.verb}" if asked is not None and words == "ran as approved" else words


def _with_original(line: str, asked: AsAsked | None) -> str:
    return line if asked is None else f"{asked.verb}: {line}   asked: {asked.summary}"


def of_request(data: RequestData) -> AsAsked | None:
    """Returns the call of a request as its agent asked for it; None where nobody changed it."""
    if not data.asked:
        return None
    return AsAsked(
        summary=data.asked, risk=data.asked_risk, by="operator" if data.edited_from else "handler"
    )


def while_held(row: CallRow, data: Mapping[str, Any], limit_chars: int) -> dict[str, Any]:
    """Returns the changes that a request makes to its call's row: it shows what would run.

    Args:
        row: the call as it was shown so far.
        data: that of the `approval.requested`.
        limit_chars: how many characters of a line are shown.
    """
    edited = bool(data.get("edited_from"))
    if not edited and data.get("before") is None:
        return {}
    changes: dict[str, Any] = {}
    if isinstance(line := data.get("summary"), str):
        changes["summary"] = line[:limit_chars]
    was = row.asked
    if was is None and (edited or data.get("asked")):
        # Records of earlier versions do not say what was asked, but the row still does.
        asked, risk = str(data.get("asked") or row.summary), data.get("asked_risk") or row.risk
        was = AsAsked(summary=asked[:limit_chars], risk=str(risk))
    if was is not None:
        by = "operator" if edited else "handler"
        changes["asked"] = msgspec.structs.replace(was, by=by)
    return changes


def once_ended(row: CallRow, word: str) -> dict[str, Any]:
    """Returns the changes to the row when a request ends: only an allow leaves an edited call."""
    ending = ENDINGS.get(word)
    if row.asked is None or (ending is not None and ending.glyph in _ALLOWS):
        return {}
    return {"summary": row.asked.summary, "risk": row.asked.risk, "asked": None}


def once_altered(row: CallRow, ran: str) -> dict[str, Any]:
    """Returns the changes to the row where the agent ran something else than was allowed."""
    if row.asked is not None and ran == row.asked.summary:
        return {"summary": ran, "risk": row.asked.risk, "asked": None}
    if not ran or ran == row.summary:
        return {}
    was = row.asked or AsAsked(summary=row.summary, risk=row.risk)
    return {"summary": ran, "asked": msgspec.structs.replace(was, by="agent")}
