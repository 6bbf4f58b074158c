"""What a console tells of by itself, and that it tells nothing twice."""

from __future__ import annotations

from typing import Literal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.open_requests import FIRST, SECOND, THIRD, asked
from tests.ui.picture import NOW_US, call_rows
from watchgate.core.model.views import GateView, PendingView
from watchgate.core.state.hosts import HostView
from watchgate.core.state.state import State
from watchgate.ui.notifications.notices import GAP_US, Notices
from watchgate.ui.source.core_bridge import Link

ATTACHED = Link(state="attached")
LOST = Link(state="lost")
LATER_US = NOW_US + 60_000_000
MINUTE_US = 60_000_000


def picture(*views: PendingView, alarms: int = 0, gate: GateView | None = None) -> State:
    state = State()
    state.pending = {view.id: view for view in views}
    for row in call_rows()[:alarms]:
        state.calls.add(msgspec.structs.replace(row, stage="DENIED BUT RAN", alarm=True))
    state.totals = msgspec.structs.replace(state.totals, alarms=alarms)
    state.gate = gate or GateView()
    return state


def ending(id: str, deadline_us: int) -> PendingView:
    view = asked(id=id)
    data = msgspec.structs.replace(view.data, deadline_at=deadline_us)
    return msgspec.structs.replace(view, data=data)


def texts(notices: Notices, state: State, now_us: int = NOW_US, link: Link = ATTACHED) -> list[str]:
    return [notice.text for notice in notices.look(state, link, now_us)]


def test_a_request_is_told_once_with_its_tool_its_session_and_what_silence_will_mean() -> None:
    notices, state = Notices(), picture(ending(FIRST, NOW_US + MINUTE_US))
    assert texts(notices, state) == ["MEDIUM Bash of api-fix #c1ah: denied in 1:00"]
    assert texts(notices, state, NOW_US + 5_000_000) == []


def test_what_a_request_wants_to_run_is_told_only_when_asked_for_and_without_its_secrets() -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    view = asked(f"curl -H 'Authorization: token {secret}' https://example.com")
    assert "curl" not in texts(Notices(), picture(view))[0]
    (told,) = texts(Notices(command=True), picture(view))
    assert "curl -H" in told
    assert secret not in told


def test_several_at_once_are_one_notice_that_names_their_number_and_the_worst() -> None:
    worst = asked(id=SECOND, risk="critical")
    state = picture(asked(), worst, asked(id=THIRD))
    assert texts(Notices(), state) == ["3 requests waiting, the worst CRITICAL"]


def test_those_that_come_close_after_one_another_are_told_together_and_only_while_they_wait() -> (
    None
):
    notices = Notices()
    assert len(texts(notices, picture(asked()))) == 1
    assert texts(notices, picture(asked(), asked(id=SECOND))) == []
    three = picture(asked(), asked(id=SECOND), asked(id=THIRD))
    assert texts(notices, three, NOW_US + 1000) == []
    (told,) = texts(notices, picture(asked(), asked(id=THIRD)), NOW_US + GAP_US)
    assert "#e3ch" in told


def test_nothing_is_told_again_after_the_core_was_lost_and_found() -> None:
    notices, state = Notices(), picture(asked())
    texts(notices, state)
    assert texts(notices, state, link=LOST) == [
        "core lost: acting calls are denied where hooks gate until it is back"
    ]
    assert texts(notices, state, link=msgspec.structs.replace(LOST, tries=7)) == []
    assert texts(notices, picture(asked()), LATER_US) == ["the core is back"]
    (told,) = texts(notices, picture(asked(), asked(id=SECOND)), LATER_US + MINUTE_US)
    assert "#d2bh" in told


def test_a_console_that_starts_without_a_core_tells_of_no_loss() -> None:
    notices = Notices()
    assert texts(notices, State(), link=Link()) == []
    assert texts(notices, State(), link=LOST) == []


def test_the_last_seconds_are_told_once_even_when_time_is_given_twice() -> None:
    notices = Notices()
    end_us = NOW_US + MINUTE_US
    texts(notices, picture(ending(FIRST, end_us)))
    (told,) = texts(notices, picture(ending(FIRST, end_us)), end_us - 10_000_000)
    assert told.endswith("denied in 0:10")
    given_us = end_us + MINUTE_US
    assert texts(notices, picture(ending(FIRST, given_us)), given_us - 9_000_000) == []


def test_what_ends_before_it_was_told_of_is_told_once() -> None:
    """It came close after another one, and its last seconds ran already."""
    notices, first = Notices(), ending(FIRST, LATER_US)
    texts(notices, picture(first))
    soon = ending(SECOND, NOW_US + 6_000_000)
    told = [
        text
        for after_us in range(100_000, 6_000_000, 100_000)
        for text in texts(notices, picture(first, soon), NOW_US + after_us)
    ]
    assert told == ["MEDIUM Bash of api-fix #d2bh: denied in 0:05"]


def test_what_lasts_only_seconds_is_told_once() -> None:
    notices, state = Notices(), picture(ending(FIRST, NOW_US + 15_000_000))
    assert len(texts(notices, state)) == 1
    assert texts(notices, state, NOW_US + 9_000_000) == []


def test_an_alarm_is_told_with_its_call_and_those_of_the_first_picture_are_not() -> None:
    notices = Notices()
    assert texts(notices, picture(alarms=1)) == []
    assert texts(notices, picture(alarms=2)) == ["DENIED BUT RAN: Grep of web"]
    assert texts(notices, picture(alarms=2)) == []
    two_more = picture(alarms=2)
    two_more.totals = msgspec.structs.replace(two_more.totals, alarms=4)
    assert texts(notices, two_more) == ["an alarm of an older call: 4 alarms today"]
    midnight = picture(alarms=2)
    midnight.totals = msgspec.structs.replace(midnight.totals, alarms=0)
    assert texts(notices, midnight) == []


def test_the_gate_switched_off_is_told_with_who_did_it_and_when_it_is_on_again() -> None:
    notices = Notices()
    off = picture(gate=GateView(off_until=LATER_US, off_by="operator ana (pts/3)"))
    assert texts(notices, picture()) == []
    (told,) = texts(notices, off)
    assert told.startswith("GATE OFF until ")
    assert told.endswith(" by operator ana (pts/3): no call is held")
    assert texts(notices, off) == []
    assert texts(notices, off, LATER_US + 1) == ["the gate is on again"]


def test_a_gate_that_was_off_before_the_console_came_is_on_its_screen_and_no_news() -> None:
    off = picture(gate=GateView(off_until=0))
    assert texts(Notices(), off) == []


def hosts(**state: Literal["connecting", "attached", "lost"]) -> State:
    found = picture()
    found.set_hosts((HostView(name=name, state=each) for name, each in state.items()), NOW_US)
    return found


def test_a_machine_that_is_lost_among_several_is_told_by_its_name_and_so_is_its_return() -> None:
    notices = Notices()
    assert texts(notices, hosts(here="attached", lab2="connecting", lab3="lost")) == []
    assert texts(notices, hosts(here="attached", lab2="attached", lab3="lost")) == []
    gone = hosts(here="attached", lab2="lost", lab3="lost")
    assert texts(notices, gone) == [
        "lab2 lost: acting calls there are denied where hooks gate, until it is back"
    ]
    assert texts(notices, gone) == []
    assert texts(notices, hosts(here="attached", lab2="attached", lab3="lost")) == ["lab2 is back"]


def test_a_gate_that_is_switched_off_on_one_of_several_machines_is_told() -> None:
    """Together they count as off only where all of them are."""
    notices = Notices()
    state = hosts(here="attached", lab2="attached")
    assert texts(notices, state) == []
    off = GateView(off_until=0, off_by="operator ana")
    state.hosts["lab2"] = msgspec.structs.replace(state.hosts["lab2"], gate=off)
    assert texts(notices, state) == [
        "GATE OFF on lab2 until it restarts by operator ana: no call is held"
    ]
    assert texts(notices, state) == []
    assert texts(notices, hosts(here="attached", lab2="attached")) == [
        "the gate on lab2 is on again"
    ]


IDS = (FIRST, SECOND, THIRD)


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from(IDS)), st.booleans(), st.integers(min_value=0, max_value=3)
        ),
        max_size=30,
    )
)
def test_no_request_is_told_of_twice_whatever_happens(
    steps: list[tuple[set[str], bool, int]],
) -> None:
    notices = Notices()
    now_us, told = NOW_US, 0
    for ids, lost, seconds in steps:
        now_us += seconds * 1_000_000
        state = picture(*(asked(id=id) for id in sorted(ids)))
        for each in notices.look(state, LOST if lost else ATTACHED, now_us):
            if each.kind == "requests":
                told += int(each.text.split()[0]) if each.text[0].isdigit() else 1
    assert told <= len(IDS)
