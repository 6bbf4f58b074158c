"""A state restored from a snapshot goes on like the state that the snapshot was taken of."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.model.records import Record
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State

NOON_US = 1_795_176_000_000_000
CALL: dict[str, Any] = {
    "native": "PreToolUse",
    "lane": "gate",
    "tool": {
        "name": "Bash",
        "native_name": "Bash",
        "cls": "shell",
        "input": {"command": "make"},
        "input_hash": "h",
    },
    "summary": "make",
    "gate": "handback",
    "risk": "low",
    "cwd": "/src/api",
}
RESULT: dict[str, Any] = {**CALL, "native": "PostToolUse", "ok": True, "took_ms": 41}


def record(seq: int, kind: str, data: dict[str, Any], call: str) -> Record:
    """A record of the one session, a second after the one before it."""
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=NOON_US + seq * 1_000_000,
        kind=kind,
        agent="claude",
        session="s1",
        call=call,
        data=data,
    )


RECORDS = (
    record(1, "tool.pre", CALL, "c1"),
    record(2, "tool.pre", CALL, "c2"),
    record(3, "tool.post", RESULT, "c1"),
    record(4, "tool.post", RESULT, "c2"),
    record(5, "tool.pre", CALL, "c3"),
)


def snapshot_of(state: State) -> State:
    """The state as a console gets it from a snapshot."""
    return restore(
        seq=state.seq,
        core=state.core,
        at=state.at,
        gate=state.gate,
        sessions=state.sessions.values(),
        pending=state.pending.values(),
        totals=state.totals,
        settled=state.settled,
        rows=list(state.rows),
    )


def picture(state: State) -> bytes:
    """Everything that a screen shows of a state."""
    return msgspec.json.encode(
        [
            state.seq,
            list(state.sessions.values()),
            list(state.pending.values()),
            state.totals,
            list(state.rows),
        ]
    )


def test_whatever_follows_a_snapshot_folds_into_the_same_picture() -> None:
    for cut in range(len(RECORDS) + 1):
        whole, before = State(), State()
        for each in RECORDS[:cut]:
            before.apply(each)
        restored = snapshot_of(before)
        for each in RECORDS:
            whole.apply(each)
        for each in RECORDS[cut:]:
            restored.apply(each)
        assert picture(restored) == picture(whole)


def test_records_that_the_snapshot_already_holds_change_nothing() -> None:
    state = State()
    for each in RECORDS:
        state.apply(each)
    restored = snapshot_of(state)
    for each in RECORDS:
        restored.apply(each)
    assert picture(restored) == picture(state)


def test_the_next_day_begins_with_new_totals() -> None:
    state = State()
    for each in RECORDS:
        state.apply(each)
    restored = snapshot_of(state)
    assert restored.totals.no_opinion == 3
    tomorrow = msgspec.structs.replace(
        record(6, "tool.pre", CALL, "c4"), at=NOON_US + 86_400 * 1_000_000
    )
    restored.apply(tomorrow)
    assert restored.totals.no_opinion == 1
