"""Recorded calls as rows: the outcome of each, who decided it, and its first and last record.

The rows come from the same folding as the live table's; the decisions' own words are added. Records
go in by their numbers; a row shows only those records of its call that were put in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

import msgspec

from watchgate.core.history.history_row import (
    SUMMARY_CHARS,
    CallExtra,
    HistoryRow,
    by_whom,
    outcome,
    states_of,
)
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import Record
from watchgate.core.model.views import GateView
from watchgate.core.state.asked_call import while_held
from watchgate.core.state.call_rows import (
    CallKey,
    CallRows,
    asks_itself,
    call_key,
    end_by_result,
    end_by_word,
    end_contradicted,
    end_refused,
    end_ungated,
)
from watchgate.core.state.gate_folds import GATE_FOLDS, gate_at_start, is_off

CORE_KINDS = ("policy.started", "policy.profile", "policy.off", "policy.on")
"""Records of no call that say how calls are to be read: where ids begin anew, and the switch."""

Names = Mapping[tuple[str, str], str]
"""Labels by agent and session."""


class HistoryFold:
    """Folds the records of calls (`apply`, in their order) into `rows`, `max_rows` at most.

    Records that cannot be read are passed over: purged ones, or those of a later version.
    """

    def __init__(self, max_rows: int) -> None:
        self._calls = CallRows(max(1, max_rows))
        self._extras: dict[int, CallExtra] = {}
        self._gate = GateView()

    def apply(self, record: Record) -> None:
        """Folds one record in."""
        fold = _FOLDS.get(record.kind)
        try:
            if fold is not None and record.call and record.agent is not None:
                fold(self, record)
            elif record.kind == "policy.started":
                self._gate = gate_at_start(record)
                self._start_over()
            elif record.kind in CORE_KINDS:
                self._gate = GATE_FOLDS[record.kind](self._gate, record)
        except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError):
            return

    def rows(
        self, names: Names | None = None, alive: Set[CallKey] = frozenset(), me: str = ""
    ) -> list[HistoryRow]:
        """Returns the calls in the order of their first records.

        `names` are labels that sessions go by elsewhere, `alive` the calls that are pending or
        running now, `me` the operator who is shown as "you".
        """
        ring = self._calls.ring
        made = (
            self._row(ring[number], extra, names or {}, alive, me)
            for number, extra in self._extras.items()
            if number in ring
        )
        return sorted(made, key=lambda row: row.first)

    def _row(
        self, row: CallRow, extra: CallExtra, names: Names, alive: Set[CallKey], me: str
    ) -> HistoryRow:
        """Builds the row of a call.

        Args:
            row: The call as the live table has it.
            extra: The facts of the call that no live row has.
            names: Labels that sessions go by elsewhere.
            alive: The calls that are pending or running now.
            me: The operator who is shown as "you".
        """
        live = (row.agent, row.session, row.call) in alive and not extra.core_gone
        glyph, ended = outcome(row, extra, alive=live)
        label = names.get((row.agent, row.session)) or _folder(extra.cwd) or row.label
        return HistoryRow(
            at=row.at,
            agent=row.agent,
            session=row.session,
            label=label,
            call=row.call,
            tool=row.tool,
            risk=row.risk,
            glyph=glyph,
            outcome=ended,
            first=extra.first,
            last=extra.last,
            by=by_whom(row, extra, ended, me=me, alive=live),
            summary=row.summary,
            alarm=row.alarm,
            request=row.request,
            word=extra.word,
            rule=extra.rule,
            reason=extra.reason,
            waited_s=extra.waited_s,
            took_ms=row.took_ms,
            asked=row.asked,
            why=row.why,
            cwd=extra.cwd,
            lane=extra.lane,
            decider=extra.by,
            state=_states(row, extra, ended),
        )

    def _start_over(self) -> None:
        """Marks calls that an earlier core held: a new one knows none, and counts ids from 1."""
        ring = self._calls.ring
        for number in filter(ring.__contains__, self._extras):
            if ring[number].stage == "pending" or ring[number].call.startswith("~"):
                self._extras[number].core_gone = True
        self._calls.forget_nameless()

    def _about(self, record: Record) -> CallExtra:
        """Returns the extras of the record's call, a new row unless a record of it came before."""
        key = call_key(record)
        number = self._calls.number(key)
        if number is None:
            number = self._calls.add(_new(record))
            self._extras[number] = CallExtra(first=record.seq, last=record.seq)
        extra = self._extras[number]
        extra.last = max(extra.last, record.seq)
        row = self._calls.ring[number]
        tool = record.data.get("tool")
        if not row.tool and isinstance(tool, dict) and isinstance(tool.get("name"), str):
            self._calls.edit(key, tool=tool["name"])
        summary = record.data.get("summary")
        if not row.summary and isinstance(summary, str):
            self._calls.edit(key, summary=summary[:SUMMARY_CHARS])
        return extra

    def _call(self, record: Record) -> None:
        extra, data, key = self._about(record), record.data, call_key(record)
        extra.cwd = extra.cwd or str(data.get("cwd", ""))
        extra.lane = extra.lane or str(data.get("lane", ""))
        extra.rule = extra.rule or str(data.get("rule", ""))
        extra.reason = extra.reason or str(data.get("reason", ""))
        changes: dict[str, Any] = {}
        if data.get("lane") in ("gate", "gate-read"):
            changes["gated"] = True
        row = self._calls.get(key)
        if asks_itself(record, row):
            changes["freed_at"] = 0
        if row is not None and row.risk == "unknown" and isinstance(data.get("risk"), str):
            changes["risk"] = data["risk"]
        self._calls.edit(key, **changes)
        if data.get("gate") == "denied":
            self._end(record, extra, str(data.get("word") or "denied-by-rule"))

    def _result(self, record: Record) -> None:
        extra, key = self._about(record), call_key(record)
        row = self._calls.get(key)
        if row is None:
            return
        if "ok" in record.data:
            off = is_off(self._gate, record.at)
            end_by_result(self._calls, row, record, off=off)
        elif not row.alarm:
            # Purged: its kind still says how it ended.
            stage = "done" if record.kind == "tool.post" else "failed"
            self._calls.edit(key, stage=stage, ended_at=record.at)
        extra.interrupted = record.data.get("interrupted") is True

    def _requested(self, record: Record) -> None:
        extra, data = self._about(record), record.data
        extra.cwd = extra.cwd or str(data.get("cwd", ""))
        extra.rule = str(data.get("rule") or extra.rule)
        extra.reason = str(data.get("reason") or extra.reason)
        extra.word = ""
        changes: dict[str, Any] = {"glyph": "?", "stage": "pending", "request": record.request}
        row = self._calls.get(call_key(record))
        if row is not None:
            changes |= while_held(row, data, SUMMARY_CHARS)
        if isinstance(data.get("risk"), str):
            changes["risk"] = data["risk"]
        self._calls.edit(call_key(record), took_ms=None, ended_at=None, **changes)

    def _decided(self, record: Record) -> None:
        extra, data = self._about(record), record.data
        extra.by = str(data.get("by", ""))
        extra.waited_s = float(data.get("waited_s", 0.0))
        extra.reason = str(data.get("reason") or extra.reason)
        self._calls.edit(call_key(record), request=record.request)
        self._end(record, extra, data["word"])
        if data["word"] == "withdrawn":
            self._calls.edit(call_key(record), gated=False)

    def _undelivered(self, record: Record) -> None:
        extra = self._about(record)
        extra.by = ""
        self._end(record, extra, record.data["word"])

    def _contradicted(self, record: Record) -> None:
        self._about(record)
        end_contradicted(self._calls, record)

    def _refused(self, record: Record) -> None:
        self._about(record)
        end_refused(self._calls, record)

    def _ungated(self, record: Record) -> None:
        self._about(record)
        end_ungated(self._calls, record, alarm=record.data.get("alarm", True) is True)

    def _other(self, record: Record) -> None:
        """Notes a record about a call that changes nothing of it."""
        if self._calls.number(call_key(record)) is not None:
            self._about(record)

    def _end(self, record: Record, extra: CallExtra, word: str) -> None:
        if word in ENDINGS:
            end_by_word(self._calls, record, word)
            extra.word = word


def _new(record: Record) -> CallRow:
    return CallRow(
        at=record.at,
        agent=record.agent or "",
        session=record.session or "",
        call=record.call or "",
        label=(record.session or "")[:8],
        tool="",
        risk="unknown",
        glyph="",
        stage="running",
        summary="",
        sub=record.sub or "",
    )


def _folder(cwd: str) -> str:
    return cwd.rstrip("/").rpartition("/")[2]


def _states(row: CallRow, extra: CallExtra, ended: str) -> tuple[str, ...]:
    """Returns the words for where a call stands: a decided one that ran well is not also done."""
    stage = "" if row.glyph and row.stage in ("done", "running", "pending") else row.stage
    waited = "no core" if row.glyph == "?" and extra.core_gone else ""
    words = (ended, stage, waited, *states_of(extra.word))
    return tuple(dict.fromkeys(filter(None, words)))


def fold_history(records: Iterable[Record], max_rows: int, **more: Any) -> list[HistoryRow]:
    """Returns the rows of these records, in their order; `more` as `HistoryFold.rows`."""
    folding = HistoryFold(max_rows)
    for record in records:
        folding.apply(record)
    return folding.rows(**more)


_FOLDS: dict[str, Callable[[HistoryFold, Record], None]] = {
    "tool.pre": HistoryFold._call,
    "tool.permission": HistoryFold._call,
    "question": HistoryFold._call,
    "tool.post": HistoryFold._result,
    "tool.error": HistoryFold._result,
    "approval.requested": HistoryFold._requested,
    "approval.decided": HistoryFold._decided,
    "approval.extended": HistoryFold._other,
    "approval.escalated": HistoryFold._other,
    "policy.refused": HistoryFold._other,
    "effect.sent": HistoryFold._other,
    "effect.undelivered": HistoryFold._undelivered,
    "effect.confirmed": HistoryFold._other,
    "effect.contradicted": HistoryFold._contradicted,
    "effect.refused": HistoryFold._refused,
    "effect.ungated": HistoryFold._ungated,
}
CALL_KINDS = tuple(_FOLDS)
"""The kinds of records that tell of a call."""
