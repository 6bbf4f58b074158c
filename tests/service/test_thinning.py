from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.records import Record
from watchgate.service.thinning import Thinning


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


def _begin(call: str, at_s: float = 0.0, gate: str = "handback") -> Record:
    return _record("tool.pre", call, at_s, gate=gate)


def test_a_quiet_core_is_passed_on_whole() -> None:
    thinning = Thinning(limit=3)
    records = [_begin("a"), _record("hook.trace", "a"), _record("tool.post", "a")]
    assert all(thinning.passes(record) for record in records)


def test_beyond_the_limit_whole_calls_are_spared() -> None:
    thinning = Thinning(limit=1)
    assert thinning.passes(_begin("a"))
    assert not thinning.passes(_begin("b"))
    assert thinning.passes(_record("tool.post", "a"))
    assert not thinning.passes(_record("tool.post", "b"))


def test_a_new_tick_brings_a_new_allowance() -> None:
    thinning = Thinning(limit=1)
    assert thinning.passes(_begin("a", 0.91))
    assert not thinning.passes(_begin("b", 0.95))
    assert thinning.passes(_begin("c", 1.0))


def test_what_has_to_be_decided_or_seen_is_never_spared() -> None:
    thinning = Thinning(limit=0)
    kinds = ("approval.requested", "approval.decided", "effect.contradicted", "policy.off")
    for kind in (*kinds, "grant.given", "grant.revoked"):
        assert thinning.passes(_record(kind, "a"))
    assert thinning.passes(_begin("h", gate="held"))
    assert thinning.passes(_begin("d", gate="denied"))
    assert thinning.passes(_record("tool.post", "h"))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=60))
def test_no_end_is_passed_or_spared_against_its_beginning(steps: list[tuple[str, bool]]) -> None:
    thinning = Thinning(limit=2)
    began: dict[str, bool] = {}
    for call, ends in steps:
        if ends and call in began:
            assert thinning.passes(_record("tool.post", call)) is began.pop(call)
        elif not ends and call not in began:
            began[call] = thinning.passes(_begin(call))
