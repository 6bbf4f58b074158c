"""The newest tool calls as rows of a table, looked up by agent, session and call id.

- Calls that wait for a person, and their ends, as rows show them: by the gate's decision, by the
  agent, or past the gate.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.base.bounded import Ring
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import Record, RequestData
from watchgate.core.state.asked_call import once_altered, once_ended, while_held

ROW_CHARS = 8_192
"""Characters of a call that its row shows."""

TURN_ROWS = 200
MAX_SHARED = 1_000

CallKey = tuple[str, str, str]


def call_key(record: Record) -> CallKey:
    """Returns agent, session and call id of a record."""
    return record.agent or "", record.session or "", record.call or ""


class CallRows:
    """A ring of rows (`ring`), and the place of each call's row in it.

    The numbers are stored by session and then by the call's own name: dictionaries of texts and
    numbers are not looked through for garbage, which with 100,000 rows would hold up the keys.
    """

    def __init__(self, max_rows: int) -> None:
        self.ring: Ring[CallRow] = Ring(max_rows)
        self._number_of: dict[tuple[str, str], dict[str, int]] = {}
        self._shared: dict[str, str] = {}

    def shared(self, text: str) -> str:
        """Returns the same text, stored once for all rows instead of once for each record."""
        if len(self._shared) > MAX_SHARED:
            self._shared.clear()
        return self._shared.setdefault(text, text)

    def add(self, row: CallRow) -> int:
        """Takes a row as the newest of its call; returns its number."""
        ring = self.ring
        if len(ring) == ring.capacity:
            self._forget(ring.first)
        number = ring.append(row)
        self._number_of.setdefault((row.agent, row.session), {})[row.call] = number
        return number

    def number(self, key: CallKey) -> int | None:
        """Returns the ring number of a call's row, None once it has fallen out."""
        numbers = self._number_of.get(key[:2])
        number = numbers.get(key[2]) if numbers is not None else None
        # Numbers only grow, so that one is still kept unless it is older than the oldest.
        return number if number is not None and number >= self.ring.first else None

    def get(self, key: CallKey) -> CallRow | None:
        """Returns the row of a call, None once it has fallen out."""
        number = self.number(key)
        return None if number is None else self.ring[number]

    def edit(self, key: CallKey, **changes: Any) -> None:
        """Changes the row of a call; nothing once it has fallen out."""
        number = self.number(key)
        if number is not None:
            self.ring[number] = msgspec.structs.replace(self.ring[number], **changes)

    def end_turn(self, agent: str, session: str, sub: str = "") -> None:
        """Marks calls of a session or sub-agent that still run as ended without a result."""
        ring = self.ring
        for number in range(max(ring.first, ring.end - TURN_ROWS), ring.end):
            row = ring[number]
            owner_and_stage = row.agent, row.session, row.sub, row.stage
            if owner_and_stage == (agent, session, sub, "running"):
                ring[number] = msgspec.structs.replace(row, stage="no result")

    def _forget(self, number: int) -> None:
        """Forgets the number of the row that is about to fall out, unless its call came again.

        One at a time: to look for all of them at once would hold up the keys.
        """
        row = self.ring[number]
        key = (row.agent, row.session)
        numbers = self._number_of.get(key)
        if numbers is not None and numbers.get(row.call) == number:
            del numbers[row.call]
            if not numbers:
                del self._number_of[key]

    def forget_nameless(self) -> None:
        """Forgets the numbers of calls without an id: a new core counts those from 1 again."""
        self._number_of = {
            key: named
            for key, numbers in self._number_of.items()
            if (named := {call: n for call, n in numbers.items() if not call.startswith("~")})
        }


RAN = ("done", "failed", "ran ungated")
"""The stages of calls that are known to have run."""

ASKS_ITSELF = ("handed-back", "handed-back-by-operator", "handed-back-by-timeout",
               "answered-elsewhere")  # fmt: skip
"""The words after which an agent may ask a person in its own terminal, for an unknown time."""

_NOBODY_ASKED = ("edited-by-operator", "allowed-by-grant", "allowed-by-rule")


def hold(rows: CallRows, record: Record, data: RequestData) -> None:
    """Shows that a call waits for an answer, and what would run."""
    key = call_key(record)
    row = rows.get(key)
    if row is not None:
        rows.edit(
            key,
            glyph="?",
            stage="pending",
            request=record.request or "",
            risk=data.risk,
            rule=rows.shared(str(data.rule)),
            took_ms=None,
            ended_at=None,
            **while_held(row, record.data, ROW_CHARS),
        )


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
    """Returns the call's wait for a person in ms; an edited request counts as one more."""
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
