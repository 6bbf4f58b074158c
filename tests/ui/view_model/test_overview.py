"""What strip and sidebar tell of a state."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.picture import NOW_US, busy, first_run, quiet, sessions, switched_off
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.views import GateView, Totals
from watchgate.core.state.gate_folds import is_off
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.link.protocol import Snapshot
from watchgate.ui.source.core_bridge import Link
from watchgate.ui.view_model.overview import (
    StripView,
    calls_per_bin,
    day_words,
    pause_words,
    policy_words,
    session_word,
    sparklines,
    strip_view,
    today,
    worst_risk,
)

ATTACHED = Link(state="attached")


def state_of(snapshot: Snapshot) -> State:
    """The state that a snapshot carries."""
    return restore(
        seq=snapshot.seq,
        core=snapshot.core,
        at=snapshot.now,
        gate=snapshot.gate,
        sessions=snapshot.sessions,
        pending=snapshot.pending,
        totals=snapshot.totals,
        rows=snapshot.rows,
    )


def strip(snapshot: Snapshot, link: Link = ATTACHED) -> StripView:
    """The strip of a snapshot's moment."""
    return strip_view(state_of(snapshot), link, NOW_US, demo=False)


def test_the_strip_carries_the_worst_risk_and_the_next_consequence() -> None:
    view = strip(busy())
    assert (view.alert, view.worst, view.pending) == ("pending", "critical", 2)
    assert view.consequence == "denied in 0:23"
    assert view.ungated == 3


def test_a_total_over_something_unknown_says_at_least() -> None:
    assert strip(busy()).cost_wide == "at least $1.84"
    assert strip(busy()).cost == "$1.84+?"


def test_costs_that_nobody_told_are_unknown_and_no_sessions_cost_nothing() -> None:
    unknown = tuple(msgspec.structs.replace(each, cost_usd=None) for each in sessions())
    assert strip(msgspec.structs.replace(busy(), sessions=unknown)).cost == "cost ?"
    assert strip(first_run()).cost == "$0.00"


def test_the_last_ten_seconds_are_urgent() -> None:
    state = state_of(busy())
    assert not strip_view(state, ATTACHED, NOW_US + 12_000_000, demo=False).urgent
    assert strip_view(state, ATTACHED, NOW_US + 13_000_000, demo=False).urgent


def test_a_request_without_a_deadline_does_not_come_first() -> None:
    first, second = busy().pending
    endless = msgspec.structs.replace(
        first, data=msgspec.structs.replace(first.data, deadline_at=0, lane="relay")
    )
    state = state_of(msgspec.structs.replace(busy(), pending=(endless, second)))
    assert [view.id for view in state.by_deadline()] == [second.id, first.id]


def test_a_lost_core_outranks_everything_and_a_gate_that_is_off_outranks_requests() -> None:
    lost = Link(state="lost", since_us=NOW_US - 41_000_000)
    assert (strip(busy(), lost).alert, strip(busy(), lost).since) == ("lost", "0:41")
    off = strip(switched_off())
    assert (off.alert, off.until) == ("off", "on again in 22:10")


def test_an_off_switch_ends_by_itself() -> None:
    assert is_off(GateView(off_until=NOW_US + 1), NOW_US)
    assert is_off(GateView(off_until=0), NOW_US)
    assert not is_off(GateView(off_until=NOW_US), NOW_US)
    assert not is_off(GateView(), NOW_US)


def test_what_a_session_is_doing() -> None:
    view = sessions(waiting=False)[0]
    assert session_word(view, None, NOW_US) == "working"
    idle = msgspec.structs.replace(view, state=SessionState.IDLE)
    assert session_word(idle, None, NOW_US) == "idle 22 s"
    waiting = msgspec.structs.replace(view, pending=1)
    assert session_word(waiting, NOW_US - 37_000_000, NOW_US) == "waiting 0:37"
    assert session_word(msgspec.structs.replace(view, gated=False), None, NOW_US) == "NOT GATED"


def test_a_state_that_no_event_told_is_marked_as_a_guess() -> None:
    view = sessions(waiting=False)[0]
    left = msgspec.structs.replace(view, seen_at=NOW_US - 9_000_000, left_at=NOW_US - 9_000_000)
    assert session_word(left, None, NOW_US) == "interrupted?"
    silent = msgspec.structs.replace(view, seen_at=NOW_US - 3_600_000_000)
    assert session_word(silent, None, NOW_US) == "silent 1 h"
    process = msgspec.structs.replace(view, state=SessionState.UNKNOWN, calls=0)
    assert session_word(process, None, NOW_US) == "no call yet"


def test_calls_of_the_last_minute_in_eight_bins() -> None:
    now_s = NOW_US // 1_000_000
    view = msgspec.structs.replace(
        sessions()[0], recent=tuple((now_s - ago, 1) for ago in (60, 59, 8, 0))
    )
    assert calls_per_bin(view, NOW_US) == [1, 0, 0, 0, 0, 0, 1, 1]


def test_sparklines_share_one_scale() -> None:
    now_s = NOW_US // 1_000_000
    one, many = sessions()[:2]
    one = msgspec.structs.replace(one, recent=((now_s, 1),))
    many = msgspec.structs.replace(many, recent=((now_s, 14),))
    assert sparklines([one, many], NOW_US) == ["▁▁▁▁▁▁▁▂", "▁▁▁▁▁▁▁█"]


def test_rare_counters_of_the_day_show_only_when_they_count() -> None:
    plain = [words for _, words, _ in today(Totals())]
    rare = [words for _, words, _ in today(Totals(alarms=1, denied_other=2))]
    assert set(rare) - set(plain) == {"denied, other causes", "ran against the gate"}


def test_counters_that_do_not_go_back_to_midnight_say_so() -> None:
    assert day_words(Totals()) == "today"
    assert day_words(Totals(since=NOW_US)) == "since 12:04"


@pytest.mark.parametrize("snapshot", [quiet(), first_run()], ids=["quiet", "first-run"])
def test_nothing_pending_is_said_quietly(snapshot: Snapshot) -> None:
    assert strip(snapshot).alert == "quiet"
    assert strip(snapshot).quiet == ("nothing pending" if snapshot.sessions else "listening")


def test_an_unknown_risk_weighs_like_a_high_one() -> None:
    critical, high = busy().pending
    unknown = msgspec.structs.replace(high, data=msgspec.structs.replace(high.data, risk="unknown"))
    assert worst_risk([unknown]) == "unknown"
    assert worst_risk([unknown, critical]) == "critical"


def test_a_paused_session_says_for_how_long_and_why() -> None:
    calm, busier, *others = sessions()
    why = "8 of its calls wait for an operator already"
    busier = msgspec.structs.replace(
        busier, pending=0, paused_until=NOW_US + 42_000_000, paused_why=why
    )
    state = state_of(msgspec.structs.replace(busy(), sessions=(calm, busier, *others)))
    assert pause_words(state, NOW_US, whole=False) == "docs paused 0:42"
    assert pause_words(state, NOW_US, whole=True) == f"docs paused 0:42: {why[:37]}..."
    assert session_word(busier, None, NOW_US) == "paused 0:42"
    assert pause_words(state, NOW_US + 42_000_000, whole=True) == ""


def test_a_policy_that_is_not_in_force_says_so_and_which_command_mends_it() -> None:
    assert policy_words(GateView(), whole=True) == ""
    changed = GateView(policy="policy.toml changed")
    assert policy_words(changed, whole=False) == "policy changed"
    assert policy_words(changed, whole=True) == (
        "policy changed, not in force: watchgate policy reload"
    )
    bad = GateView(project_fault="/srv/app/.watchgate/policy.toml:3: unknown key")
    assert policy_words(bad, whole=False) == "project policy bad"
    assert policy_words(bad, whole=True) == (
        "project policy bad, not in force: watchgate policy reload"
    )
    both = msgspec.structs.replace(changed, project_fault=bad.project_fault)
    assert policy_words(both, whole=False) == "policy changed"
    broken = GateView(policy="policy.toml:3: unknown key", policy_broken=True)
    assert policy_words(broken, whole=False) == "policy broken"
    assert policy_words(broken, whole=True) == (
        "policy broken, all is asked: watchgate policy reload"
    )
