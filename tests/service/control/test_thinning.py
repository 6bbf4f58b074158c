"""A console gets whole calls, the grave ones always; text does not take up the calls' room."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record
from watchgate.service.control.caller import (
    CALLS_PER_WINDOW,
    OTHERS_PER_WINDOW,
    WINDOW_US,
    RecordSampler,
)


def _record(kind: str, call: str | None = None, at_s: float = 0.0, **data: Any) -> Record:
    return Record(
        v=1,
        seq=1,
        core="c",
        at=round(at_s * 1_000_000),
        kind=kind,
        agent="claude",
        session="s",
        call=call,
        data=data,
    )


def _begin(call: str, at_s: float = 0.0, gate: str = "handback", risk: str = "medium") -> Record:
    return _record("tool.pre", call, at_s, gate=gate, risk=risk)


def test_a_console_gets_three_hundred_calls_a_second_and_as_many_other_records() -> None:
    assert (CALLS_PER_WINDOW, OTHERS_PER_WINDOW, WINDOW_US) == (30, 30, 100_000)
    thinning = RecordSampler()
    assert sum(thinning.passes(_begin(str(number))) for number in range(99)) == 30
    assert sum(thinning.passes(_record("notice")) for _ in range(99)) == 30


def test_a_quiet_core_is_passed_on_whole() -> None:
    thinning = RecordSampler(calls=3)
    records = [_begin("a"), _record("hook.trace", "a"), _record("tool.post", "a")]
    assert all(thinning.passes(record) for record in records)


def test_beyond_the_limit_whole_calls_are_spared() -> None:
    thinning = RecordSampler(calls=1)
    assert thinning.passes(_begin("a"))
    assert not thinning.passes(_begin("b"))
    assert thinning.passes(_record("tool.post", "a"))
    assert not thinning.passes(_record("tool.post", "b"))


def test_a_new_tick_brings_a_new_allowance() -> None:
    thinning = RecordSampler(calls=1)
    assert thinning.passes(_begin("a", 0.91))
    assert not thinning.passes(_begin("b", 0.95))
    assert thinning.passes(_begin("c", 1.0))


def test_what_has_to_be_decided_or_seen_is_never_spared() -> None:
    thinning = RecordSampler(calls=0, others=0)
    kinds = ("approval.requested", "approval.decided", "effect.contradicted", "policy.off")
    for kind in (*kinds, "grant.given", "grant.revoked"):
        assert thinning.passes(_record(kind, "a"))
    for risk in ("high", "critical"):
        assert thinning.passes(_begin(risk, gate="recorded", risk=risk))
        assert thinning.passes(_record("tool.post", risk))
    assert thinning.passes(_begin("h", gate="held"))
    assert thinning.passes(_begin("d", gate="denied"))
    assert thinning.passes(_record("tool.post", "h"))


def test_pieces_of_text_take_no_room_of_calls() -> None:
    thinning = RecordSampler(calls=1, others=1)
    assert [thinning.passes(_record("notice")) for _ in range(3)] == [True, False, False]
    assert thinning.passes(_begin("a"))
    assert not thinning.passes(_begin("b"))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=60))
def test_no_end_is_passed_or_spared_against_its_beginning(steps: list[tuple[str, bool]]) -> None:
    thinning = RecordSampler(calls=2)
    began: dict[str, bool] = {}
    for call, ends in steps:
        if ends and call in began:
            assert thinning.passes(_record("tool.post", call)) is began.pop(call)
        elif not ends and call not in began:
            began[call] = thinning.passes(_begin(call))
