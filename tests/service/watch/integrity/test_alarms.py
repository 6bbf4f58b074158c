"""A change is told when two looks on end find it, once, until it is mended."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record, TamperedData
from watchgate.core.model.views import GateView
from watchgate.core.state.gate_folds import GATE_FOLDS
from watchgate.service.watch.integrity.examiner import Alarms, WatchedKey


def finding(path: str = "/a", digest: str = "1") -> TamperedData:
    return TamperedData(
        part="hooks", path=path, what=f"{digest} changed", agent="claude", digest=digest, was="0"
    )


A = ("/a", "claude")


def test_what_is_found_once_may_be_our_own_installation() -> None:
    alarms = Alarms()
    assert alarms.look({A: finding()}) == []
    assert alarms.look({}) == []


def test_what_is_found_twice_is_told_once_and_again_when_it_changes() -> None:
    alarms = Alarms()
    looks = [alarms.look({A: finding()}) for _ in range(3)]
    assert looks == [[], [("policy.tampered", finding())], []]
    other = finding(digest="2")
    assert [alarms.look({A: other}) for _ in range(2)] == [[], [("policy.tampered", other)]]


def test_what_is_mended_is_told_with_both_digests() -> None:
    alarms = Alarms()
    for _ in range(2):
        alarms.look({A: finding()})
    [(kind, told)] = alarms.look({})
    assert kind == "policy.intact"
    assert (told.path, told.digest, told.was) == ("/a", "0", "1")
    assert alarms.look({}) == []


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"), max_size=3), max_size=12
    )
)
def test_the_gate_shows_exactly_what_stays_wrong(looks: list[dict[str, str]]) -> None:
    alarms, gate, seq = Alarms(), GateView(), 0
    before: dict[WatchedKey, TamperedData] = {}
    for look in looks:
        now = {(f"/{name}", "claude"): finding(f"/{name}", digest) for name, digest in look.items()}
        for kind, told in alarms.look(now):
            seq += 1
            record = Record(
                v=1, seq=seq, core="c", at=seq, kind=kind, data=msgspec.to_builtins(told)
            )
            gate = GATE_FOLDS[kind](gate, record)
        assert set(gate.tampered) == set(alarms.reported.values())
        assert {each.path for each in gate.tampered} <= {path for path, _ in now}
        settled = {each for key, each in now.items() if before.get(key) == each}
        assert settled <= set(gate.tampered)
        before = now
