"""Recorded calls as rows: what became of each, by whose word, and between which records.

The rows come from the same folding as the live table's; the decisions' own words are added. Records
go in by their numbers, all of a call or the row tells only of those that did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

import msgspec

from watchgate.core.as_asked import while_held
from watchgate.core.call_endings import ENDINGS
from watchgate.core.call_ends import (
    asks_itself,
    end_by_result,
    end_by_word,
    end_contradicted,
    end_refused,
    end_ungated,
)
from watchgate.core.call_rows import CallKey, CallRows, call_key
from watchgate.core.gate_folds import GATE_FOLDS, is_off, started
from watchgate.core.history_lean import SUMMARY_CHARS
from watchgate.core.history_row import HistoryRow
from watchgate.core.history_words import Told, by_whom, outcome
from watchgate.core.records import Record
from watchgate.core.views import CallRow, GateView
from watchgate.core.word_fields import states_of

CORE_KINDS = ("policy.started", "policy.profile", "policy.off", "policy.on")
"""Records of no call that say how calls are to be read: where ids begin anew, and the switch."""

Names = Mapping[tuple[str, str], str]
"""Labels by agent and session."""


class Folding:
    """Folds the records of calls (`apply`, in their order) into `rows`, of `kept` calls at most.

    Records that cannot be read are passed over: purged ones, or those of a later version.
    """

    def __init__(self, kept: int) -> None:
        self._calls = CallRows(max(1, kept))
        self._told: dict[int, Told] = {}
        self._gate = GateView()

    def apply(self, record: Record) -> None:
        """Fold one record in."""
        fold = _FOLDS.get(record.kind)
        try:
            if fold is not None and record.call and record.agent is not None:
                fold(self, record)
            elif record.kind == "policy.started":
                self._gate = started(record)
                self._start_over()
            elif record.kind in CORE_KINDS:
                self._gate = GATE_FOLDS[record.kind](self._gate, record)
        except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError):
            return

    def rows(
        self, names: Names | None = None, alive: Set[CallKey] = frozenset(), me: str = ""
    ) -> list[HistoryRow]:
        """The calls by their first records.

        `names` are labels that sessions go by elsewhere, `alive` the calls that are pending or
        running now, `me` the operator who is told "you".
        """
        ring = self._calls.ring
        made = (
            self._row(ring[number], told, names or {}, alive, me)
            for number, told in self._told.items()
            if number in ring
        )
        return sorted(made, key=lambda row: row.first)

    def _row(
        self, row: CallRow, told: Told, names: Names, alive: Set[CallKey], me: str
    ) -> HistoryRow:
        live = (row.agent, row.session, row.call) in alive and not told.core_gone
        glyph, ended = outcome(row, told, alive=live)
        label = names.get((row.agent, row.session)) or _folder(told.cwd) or row.label
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
            first=told.first,
            last=told.last,
            by=by_whom(row, told, ended, me=me, alive=live),
            summary=row.summary,
            alarm=row.alarm,
            request=row.request,
            word=told.word,
            rule=told.rule,
            reason=told.reason,
            waited_s=told.waited_s,
            took_ms=row.took_ms,
            asked=row.asked,
            why=row.why,
            cwd=told.cwd,
            lane=told.lane,
            decider=told.by,
            state=_states(row, told, ended),
        )

    def _start_over(self) -> None:
        """A core that starts knows nothing of what an earlier one held, and counts ids from 1."""
        ring = self._calls.ring
        for number in filter(ring.__contains__, self._told):
            if ring[number].stage == "pending" or ring[number].call.startswith("~"):
                self._told[number].core_gone = True
        self._calls.forget_nameless()

    def _about(self, record: Record) -> Told:
        """What is told of the record's call, which is new unless a record of it came before."""
        key = call_key(record)
        number = self._calls.number(key)
        if number is None:
            number = self._calls.add(_new(record))
            self._told[number] = Told(first=record.seq, last=record.seq)
        told = self._told[number]
        told.last = max(told.last, record.seq)
        row = self._calls.ring[number]
        tool = record.data.get("tool")
        if not row.tool and isinstance(tool, dict) and isinstance(tool.get("name"), str):
            self._calls.edit(key, tool=tool["name"])
        summary = record.data.get("summary")
        if not row.summary and isinstance(summary, str):
            self._calls.edit(key, summary=summary[:SUMMARY_CHARS])
        return told

    def _call(self, record: Record) -> None:
        told, data, key = self._about(record), record.data, call_key(record)
        told.cwd = told.cwd or str(data.get("cwd", ""))
        told.lane = told.lane or str(data.get("lane", ""))
        told.rule = told.rule or str(data.get("rule", ""))
        told.reason = told.reason or str(data.get("reason", ""))
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
            self._end(record, told, str(data.get("word") or "denied-by-rule"))

    def _result(self, record: Record) -> None:
        told, key = self._about(record), call_key(record)
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
        told.interrupted = record.data.get("interrupted") is True

    def _requested(self, record: Record) -> None:
        told, data = self._about(record), record.data
        told.cwd = told.cwd or str(data.get("cwd", ""))
        told.rule = str(data.get("rule") or told.rule)
        told.reason = str(data.get("reason") or told.reason)
        told.word = ""
        changes: dict[str, Any] = {"glyph": "?", "stage": "pending", "request": record.request}
        row = self._calls.get(call_key(record))
        if row is not None:
            changes |= while_held(row, data, SUMMARY_CHARS)
        if isinstance(data.get("risk"), str):
            changes["risk"] = data["risk"]
        self._calls.edit(call_key(record), took_ms=None, ended_at=None, **changes)

    def _decided(self, record: Record) -> None:
        told, data = self._about(record), record.data
        told.by = str(data.get("by", ""))
        told.waited_s = float(data.get("waited_s", 0.0))
        told.reason = str(data.get("reason") or told.reason)
        self._calls.edit(call_key(record), request=record.request)
        self._end(record, told, data["word"])
        if data["word"] == "withdrawn":
            self._calls.edit(call_key(record), gated=False)

    def _undelivered(self, record: Record) -> None:
        told = self._about(record)
        told.by = ""
        self._end(record, told, record.data["word"])

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
        """A record that tells of a call and changes nothing about it."""
        if self._calls.number(call_key(record)) is not None:
            self._about(record)

    def _end(self, record: Record, told: Told, word: str) -> None:
        if word in ENDINGS:
            end_by_word(self._calls, record, word)
            told.word = word


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


def _states(row: CallRow, told: Told, ended: str) -> tuple[str, ...]:
    """The words for where a call stands: a decided one that ran well is not found as done."""
    stage = "" if row.glyph and row.stage in ("done", "running", "pending") else row.stage
    waited = "no core" if row.glyph == "?" and told.core_gone else ""
    words = (ended, stage, waited, *states_of(told.word))
    return tuple(dict.fromkeys(filter(None, words)))


def fold(records: Iterable[Record], kept: int, **more: Any) -> list[HistoryRow]:
    """The rows of these records, which come in their order; `more` as `Folding.rows` takes it."""
    folding = Folding(kept)
    for record in records:
        folding.apply(record)
    return folding.rows(**more)


_FOLDS: dict[str, Callable[[Folding, Record], None]] = {
    "tool.pre": Folding._call,
    "tool.permission": Folding._call,
    "question": Folding._call,
    "tool.post": Folding._result,
    "tool.error": Folding._result,
    "approval.requested": Folding._requested,
    "approval.decided": Folding._decided,
    "approval.extended": Folding._other,
    "approval.escalated": Folding._other,
    "policy.refused": Folding._other,
    "effect.sent": Folding._other,
    "effect.undelivered": Folding._undelivered,
    "effect.confirmed": Folding._other,
    "effect.contradicted": Folding._contradicted,
    "effect.refused": Folding._refused,
    "effect.ungated": Folding._ungated,
}
CALL_KINDS = tuple(_FOLDS)
"""The kinds of records that tell of a call."""
