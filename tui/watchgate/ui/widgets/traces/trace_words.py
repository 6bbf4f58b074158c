"""The words of a trace: verdicts, reasons for being skipped, and outcomes of calls.

A dispatch whose effect is "view" changes only what is shown, so none of its words claims that
something was prevented.
"""

from __future__ import annotations

from typing import get_args

from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.outcomes import GLYPHS
from watchgate.core.model.records import TraceData
from watchgate.core.model.verdicts import FailureCause, SkipReason, TraceRow
from watchgate.core.state.asked_call import columns_of
from watchgate.core.state.traces import TracedCall, hidden_by, shown_by, shows_only
from watchgate.core.tools.summary import in_columns
from watchgate.ui.base.formats import UNMEASURED, covered, took

VERDICTS: dict[str, str] = {
    "allow": "allowed",
    "block": "denied",
    "modify": "rewrote input",
    "confirm": "asks",
    "inject": "added text",
    "abort": "denied, stops",
    "defer": "no opinion",
}
IGNORED_ALLOW = "no objection"
HIDES = "hid from view"
REWRITES = "rewrote view"
WOULD: dict[str, str] = {
    "block": "would deny",
    "abort": "would deny",
    "confirm": "would ask",
    "modify": "would rewrite",
}
_DENIALS = ("block", "abort")
_OBSERVED = ("allow", "defer", "inject")

SKIPPED: dict[SkipReason, str] = {
    "filter": "not for this event",
    "matcher": "its matcher did not fit",
    "after-stop": "decided before its turn",
    "breaker": "resting: it kept failing",
    "disabled": "switched off",
    "deadline": "no time was left for it",
    "once": "ran once this session",
}

_CAUSES: tuple[str, ...] = get_args(FailureCause)
_FAILED: dict[str, str] = {
    "spawn": "cannot start",
    "exit": "failed",
    "parse": "bad answer",
    "protocol": "error answer",
    "crash": "crashed",
    "malformed": "bad answer",
    "oversized": "too much output",
    "crowded": "queue was full",
}

_DECIDED = {"deny": "x", "allow": "=", "confirm": "?"}
_STOPPED = ("x", "T")
_RAN = ("done", "failed", "running", "ran ungated")


def columns(call: TracedCall, row: CallRow | None, cells: int) -> tuple[str, str]:
    """Returns the texts for the tool, in so many cells, and for what ran."""
    if row is None or not row.summary:
        return in_columns(call.tool, call.summary, cells)
    return columns_of(row, cells)


def hides(row: TraceRow, data: TraceData) -> bool:
    """Returns whether a handler's denial only keeps the event from being shown."""
    return shows_only(data) and row.verdict in _DENIALS and not row.ignored


def decides(row: TraceRow, data: TraceData) -> bool:
    """Returns whether this handler made the decision; having no opinion makes none."""
    made = data.decision != "none" or row.verdict == "modify"
    return made and data.decided_by == row.handler and row.status == "ran"


def cause(row: TraceRow) -> str:
    """Returns the cause of a handler's failure; empty when it is not known."""
    if row.verdict != "failed":
        return ""
    parts = row.detail.split(": ", 2)[:2]
    return next((part for part in parts if part in _CAUSES), "")


def verdict(row: TraceRow, data: TraceData) -> str:
    """Returns a handler's verdict in a few words."""
    if row.status != "ran":
        return "skipped" if row.status == "skipped" else "still running"
    if row.verdict == "failed":
        return _failure(row)
    if row.role != "gate" and row.verdict in _OBSERVED:
        return "told"
    if hides(row, data):
        return HIDES
    if shown_by(data) == row.handler:
        return REWRITES
    word = row.verdict or ""
    if data.effect == "view" and word in WOULD:
        return WOULD[word]
    if word == "allow" and not decides(row, data):
        return IGNORED_ALLOW
    return VERDICTS.get(word) or safe_text(word[:40])


def mark(row: TraceRow, data: TraceData) -> str:
    """Returns the glyph of the deciding handler; empty for one that prevented nothing."""
    plain = row.verdict in ("modify", "inject", "failed")
    return "" if data.effect == "view" or plain else _DECIDED.get(data.decision, "")


def why_skipped(row: TraceRow) -> str:
    """Returns the reason a handler was not asked, short enough for a bar."""
    known = SKIPPED.get(row.why) if row.why is not None else None
    return known or covered(row.detail)[:200] or "not asked"


def why_ignored(row: TraceRow) -> str:
    """Returns the reason a verdict was ignored; empty where it was not, or asked nothing."""
    observed = row.role != "gate" and row.verdict in (*_OBSERVED, "failed")
    reason = row.detail.partition(": ")[0] or "it had no say"
    return "" if not row.ignored or observed else f"ignored: {covered(reason)[:400]}"


def ended(data: TraceData, call: CallRow | None) -> tuple[str, str]:
    """Returns a call's outcome as glyph and words; without a row, the trace alone decides."""
    stopped = call is not None and call.glyph in _STOPPED
    if data.effect == "view" and data.decision == "deny" and not stopped:
        what = "hidden from view" if hidden_by(data) else "only watched"
        ran = call is not None and call.stage in _RAN
        return "", f"{what}, {'it ran' if ran else 'nothing was prevented'}"
    if shown_by(data) and not stopped:
        ran = call is not None and call.stage in _RAN
        return "", f"shown rewritten, {'it ran as it was' if ran else 'nothing was changed'}"
    if call is not None:
        glyph = call.glyph
    elif data.effect == "view":
        glyph = ""
    else:
        glyph = _DECIDED.get(data.decision, "")
    return glyph, GLYPHS[glyph].trace if glyph in GLYPHS else "no opinion"


def decided_by(data: TraceData) -> str:
    """Returns the decider and the reason; policy and failures need no name in front."""
    by, reason = data.decided_by or "", data.reason
    if data.decision == "none" and not reason:
        return ""
    named = by in ("", "policy") or reason.startswith((by, f"hook {by}", f"handler {by}"))
    return covered(reason if named and reason else ": ".join(filter(None, (by, reason))))


def lasted(row: TraceRow) -> str:
    """Returns the time that a handler took, in words."""
    return millis(row.duration_ms)


def millis(ms: float | None) -> str:
    """Returns a handler's time in a column: `0.3 ms`, `26.1 ms`, `214 ms`, `12.4 s`."""
    if ms is None:
        return UNMEASURED
    if ms < 99.95:
        return f"{ms:.1f} ms"
    return f"{ms:.0f} ms" if ms < 999.5 else took(round(ms))


def whole_ms(ms: float) -> str:
    """Returns a sum of times in a column: `3 ms`, `243 ms`; never nothing for something."""
    if 0 < ms < 0.95:
        return f"{max(0.1, ms):.1f} ms"
    return f"{ms:.0f} ms" if ms < 999.5 else took(round(ms))


def _failure(row: TraceRow) -> str:
    why = cause(row)
    if why == "timeout":
        return "T timed out"
    if row.run.signal:
        return f"killed: {safe_text(row.run.signal[:20])}"
    if why in ("exit", "") and row.run.exit_code:
        return f"failed: exit {row.run.exit_code}"
    return _FAILED.get(why, "failed")
