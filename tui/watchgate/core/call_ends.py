"""Ends of calls, as rows show them: by the gate's decision, by the agent, or past the gate."""

from __future__ import annotations

from watchgate.core.as_asked import once_altered, once_ended
from watchgate.core.call_endings import ENDINGS
from watchgate.core.call_rows import CallRows, call_key
from watchgate.core.records import Record
from watchgate.core.views import CallRow

RAN = ("done", "failed", "ran ungated")
"""The stages of calls that are known to have run."""

ASKS_ITSELF = ("handed-back", "handed-back-by-operator", "handed-back-by-timeout",
               "answered-elsewhere")  # fmt: skip
"""The words after which an agent may ask a person in its own terminal, for an unknown time."""

_NOBODY_ASKED = ("edited-by-operator", "allowed-by-grant", "allowed-by-rule")


def end_by_word(rows: CallRows, record: Record, word: str) -> None:
    """Shows how the gate's part of a call ended; a result that came since outranks that."""
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
        took_ms=None,
        waited_ms=waited_ms(row, record, word),
        freed_at=0 if word in ASKS_ITSELF else record.at,
        **once_ended(row, word),
    )


def waited_ms(row: CallRow, record: Record, word: str) -> int | None:
    """Returns how long the call waited for a person; an edited request counts as one more."""
    waited_s = record.data.get("waited_s")
    if word in _NOBODY_ASKED or not isinstance(waited_s, int | float):
        return row.waited_ms
    return (row.waited_ms or 0) + round(waited_s * 1000)


def took_ms(row: CallRow, record: Record) -> int | None:
    """Returns the machine's time of an ended call; None where a person's is mixed with it.

    What an agent says of it may count the time in which somebody was asked.
    """
    agents = record.data.get("took_ms")
    if row.freed_at == 0:
        return agents if isinstance(agents, int) else None
    since_ms = max(0, record.at - (row.freed_at or row.at)) // 1000
    return min(agents, since_ms) if isinstance(agents, int) else since_ms


def end_by_result(rows: CallRows, row: CallRow, record: Record, *, off: bool) -> None:
    """Shows a call's result; `off` says that the gate was switched off at that time."""
    data = record.data
    stage = "done" if data["ok"] else "failed"
    if data.get("ungated") or (not row.gated and off):
        stage = "ran ungated"
    rows.edit(
        call_key(record),
        stage=row.stage if row.alarm else stage,
        ended_at=record.at,
        took_ms=took_ms(row, record),
    )


def asks_itself(record: Record, row: CallRow | None) -> bool:
    """Returns whether the agent asks somebody in its own terminal about this call.

    A prompt that carries an earlier answer does so where that left it to the agent (`row`).
    """
    gate = record.data.get("gate")
    handed = gate == "carried" and row is not None and row.word in ASKS_ITSELF
    return record.kind == "tool.permission" and (handed or gate in ("handback", "recorded"))


def end_ungated(rows: CallRows, record: Record, *, alarm: bool) -> bool:
    """Shows that a call passed no gate; returns whether a gate was asked, and it ran before that.

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


def end_refused(rows: CallRows, record: Record) -> None:
    """Shows that the agent refused the call by itself, and why; one that ran outranks that."""
    row = rows.get(call_key(record))
    if row is not None and not (row.alarm or row.stage in RAN):
        why = str(record.data.get("what", ""))
        rows.edit(call_key(record), stage="refused", why=why, ended_at=record.at, took_ms=None)


def end_contradicted(rows: CallRows, record: Record) -> None:
    """Shows that a call did something else than what the agent was answered."""
    alarm, row = record.data.get("alarm"), rows.get(call_key(record))
    stage = alarm if isinstance(alarm, str) and alarm else "failed"
    ran = str(record.data.get("what", "")) if alarm == "RAN ALTERED" else ""
    changes = once_altered(row, ran) if row is not None and ran else {}
    rows.edit(call_key(record), stage=stage, alarm=True, **changes)
