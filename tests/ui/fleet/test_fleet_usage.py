"""Costs of several machines: each session by its host, days and limits together, clocks as ours."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from watchgate.core.model.records import COUNTED, Record
from watchgate.core.model.usage_records import CountedData, CountedRow, Limit, Minute, Part
from watchgate.core.model.views import GateView
from watchgate.core.state.hosts import HostView
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import NANO
from watchgate.core.usage.usage_by_time import MINUTE_US
from watchgate.core.usage.usage_fold import DAY_US, UsageFold
from watchgate.link.snapshots import snapshot
from watchgate.ui.fleet.fleet_source import usage_of_all
from watchgate.ui.fleet.foreign_records import readable
from watchgate.ui.fleet.host_names import HostNames

NOW_US = 1_795_176_000_000_000
TODAY = NOW_US // DAY_US
SHIFT_US = 5 * MINUTE_US


def data(**fields: Any) -> CountedData:
    return CountedData(
        rows=(CountedRow(day=TODAY, model="big", calls=1, input=3, computed=NANO),),
        source="computed",
        turns=(Part(id="t", at=NOW_US - SHIFT_US),),
        tools=(Part(id="call", at=NOW_US - SHIFT_US, cost=4),),
        minutes=(Minute(at=(NOW_US - SHIFT_US) // MINUTE_US, cost=NANO),),
        limits=(Limit(name="week", used_percent=40.0, resets_at=NOW_US),),
        utc_offset_s=7_200,
        label="app",
        **fields,
    )


def record(told: Any, at: int = NOW_US - SHIFT_US) -> Record:
    return Record(
        v=1, seq=1, core="c", at=at, kind=COUNTED, agent="claude", session="s1",
        data=msgspec.to_builtins(told),
    )  # fmt: skip


def fold(told: Record) -> UsageFold:
    state = State()
    state.apply(told)
    return state.usage


def test_a_record_of_another_machine_is_named_by_it_and_timed_by_our_clock() -> None:
    usage = fold(HostNames("web", SHIFT_US, NOW_US).record(record(data()), NOW_US))

    seen = usage.sessions["claude", "web/s1"]
    assert (seen.label, seen.cost, seen.at, seen.turns[0].at) == ("web:app", NANO, NOW_US, NOW_US)
    assert usage.last_hour(NOW_US) == NANO
    assert usage.tool_cost("claude", "web/s1", "call") is not None
    assert usage.limits["claude"].limits[0].resets_at == NOW_US + SHIFT_US


def test_a_first_picture_tells_the_same_as_its_records() -> None:
    names = HostNames("web", SHIFT_US, NOW_US)
    by_record = fold(names.record(record(data()), NOW_US)).snapshot()
    state = State()
    state.apply(record(data()))
    by_picture = names.snapshot(snapshot(state, core="c", now_us=NOW_US)).usage

    for each in (by_record, by_picture):
        assert each.sessions[0].label == "web:app"
    assert by_picture.recent == by_record.recent
    assert by_picture.tools[0].session == by_record.tools[0].session
    assert UsageFold(by_picture).sessions == UsageFold(by_record).sessions


def test_of_several_machines_sessions_stay_apart_and_limits_are_the_newest() -> None:
    first = fold(HostNames("a").record(record(data(), at=NOW_US - DAY_US), NOW_US))
    newer = msgspec.structs.replace(data(), limits=(Limit(name="week", used_percent=50.0),))
    second = fold(HostNames("b").record(record(newer), NOW_US))

    both = UsageFold(usage_of_all([first.snapshot(), second.snapshot()]))
    assert set(both.sessions) == {("claude", "a/s1"), ("claude", "b/s1")}
    assert [each.cost for each in both.spent] == [2 * NANO]
    assert both.limits["claude"].limits[0].used_percent == 50.0
    assert both.last_hour(NOW_US) == 2 * NANO


def test_days_are_those_of_the_machine_in_front_of_us() -> None:
    hosts = (HostView(name="here", local=True), HostView(name="web", local=False))
    state = restore(seq=0, core="c", at=NOW_US, gate=GateView(), hosts=hosts)
    state.apply(HostNames("web").record(record(data()), NOW_US))
    assert state.usage.utc_offset_s == 0
    state.apply(msgspec.structs.replace(HostNames("here").record(record(data()), NOW_US), seq=2))
    assert state.usage.utc_offset_s == 7_200


def test_a_day_that_there_cannot_be_yet_is_left_out() -> None:
    later = CountedRow(day=TODAY + 900, model="big", computed=9 * NANO)
    told = msgspec.structs.replace(data(), rows=(*data().rows, later))
    usage = fold(HostNames("web", 0, NOW_US).record(record(told), NOW_US))

    assert [each.day for each in usage.spent] == [TODAY]


@pytest.mark.parametrize("told", [{"rows": 3}, {"rows": [{"day": 1 << 70}]}, {"source": "best"}])
def test_a_record_that_says_nothing_readable_is_passed_over(told: dict[str, Any]) -> None:
    assert not readable(record(told))
    assert readable(record(data()))
