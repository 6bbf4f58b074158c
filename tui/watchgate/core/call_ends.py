"""How calls end, as their rows show it: by the gate's word, by a result, or past the gate."""

from __future__ import annotations

from watchgate.core.call_endings import ENDINGS
from watchgate.core.call_rows import CallRows, call_key
from watchgate.core.records import Record
from watchgate.core.views import CallRow

RAN = ("done", "failed", "ran ungated")
"""The stages of calls that are known to have run."""


def end_by_word(rows: CallRows, record: Record, word: str) -> None:
    """Show how the gate's part of a call ended; what it did since outranks that."""
    ending = ENDINGS[word]
    key = call_key(record)
    row = rows.get(key)
    if row is None:
        return
    word = rows.shared(word)
    if row.stage in RAN or row.alarm:
        rows.edit(key, glyph=ending.glyph, word=word)
        return
    rows.edit(
        key,
        glyph=ending.glyph,
        word=word,
        stage=ending.stage,
        ended_at=record.at if ending.over else None,
        took_ms=(record.at - row.at) // 1000 if ending.over else None,
    )


def end_by_result(rows: CallRows, row: CallRow, record: Record, *, off: bool) -> None:
    """Show a call's result; `off` says that the gate was switched off at that time."""
    data = record.data
    stage = "done" if data["ok"] else "failed"
    if data.get("ungated") or (not row.gated and off):
        stage = "ran ungated"
    took = data.get("took_ms")
    rows.edit(
        call_key(record),
        stage=row.stage if row.alarm else stage,
        ended_at=record.at,
        took_ms=took if isinstance(took, int) else (record.at - row.at) // 1000,
    )


def end_ungated(rows: CallRows, record: Record, *, alarm: bool) -> bool:
    """Show that a call passed no gate; whether one was asked about it, and it ran before that.

    The record's `why` is only the likely cause. Of the calls of one session and cause the first is
    the alarm, and its row says how many there are by now.
    """
    key, count = call_key(record), record.data.get("count", 1)
    row, first = rows.get(key), (*key[:2], record.data.get("first", ""))
    if row is None or row.alarm:
        return False
    alone = count == 1 or rows.get(first) is None
    why = str(record.data["why"])
    rows.edit(key, stage="ran ungated", alarm=alarm and alone, why=why, gated=False)
    rows.edit(key if alone else first, speaks_for=count)
    return row.gated


def end_contradicted(rows: CallRows, record: Record) -> None:
    """Show that a call did something else than what the agent was told."""
    alarm = record.data.get("alarm")
    stage = alarm if isinstance(alarm, str) and alarm else "failed"
    rows.edit(call_key(record), stage=stage, alarm=True)
