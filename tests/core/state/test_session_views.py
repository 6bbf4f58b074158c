"""Sessions have labels of their own, and do not pile up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.session_views import MAX_WAITS, TITLE_CHARS, SessionViews


def record(session: str, at: int = 1, kind: str = "tool.pre", **data: Any) -> Record:
    return Record(
        v=1, seq=at, core="c", at=at, kind=kind, agent="claude", session=session, data=data
    )


def labels(seen: SessionViews) -> list[str]:
    return [view.label for view in seen.views.values()]


def test_the_folder_names_the_session_and_the_id_tells_two_of_one_folder_apart() -> None:
    seen = SessionViews()
    told = (("7f3c-a", "/home/u/app"), ("81-aa0", "/tmp/app/"), ("no-folder-at-all", ""))
    for session, cwd in (*told, ("81-aa1", "/home/u/app")):
        seen.touch(record(session, cwd=cwd))
    assert labels(seen) == ["app", "app~81aa", "no-folde", "app~81aa1"]


def test_one_name_is_given_again_once_its_session_has_ended() -> None:
    seen = SessionViews()
    for at, session in enumerate(("morning", "noon", "evening"), start=1):
        seen.touch(record(session, at, cwd="/home/u/app"))
        seen.touch(record(session, at, kind="session.end"))
    assert labels(seen) == ["app", "app", "app"]


def test_a_session_that_is_resumed_has_its_name_again_unless_another_took_it() -> None:
    seen = SessionViews()
    seen.touch(record("7f3c-a", cwd="/home/u/app"))
    seen.touch(record("7f3c-a", kind="session.end"))
    seen.touch(record("7f3c-a", kind="session.start"))
    assert labels(seen) == ["app"]
    seen.touch(record("7f3c-a", kind="session.end"))
    seen.touch(record("another", cwd="/home/u/app"))
    seen.touch(record("7f3c-a", kind="session.start"))
    assert labels(seen) == ["app~7f3c", "app"]


def test_a_session_that_ends_twice_leaves_its_name_to_who_took_it() -> None:
    """A process that is over is found out by a look, maybe long after its session ended."""
    seen = SessionViews()
    seen.touch(record("morning", cwd="/home/u/app"))
    seen.touch(record("morning", kind="session.end"))
    seen.touch(record("noon", cwd="/home/u/app"))
    seen.inferred(record("morning", state="gone", why="its process is over"))
    seen.touch(record("evening", cwd="/home/u/app"))
    assert labels(seen) == ["app", "app", "app~even"]


_KINDS = ("tool.pre", "session.start", "session.end", "gone", "unknown", "start over")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "pid 1"]),
            st.sampled_from(_KINDS),
            st.sampled_from(["", "/home/u/app", "/tmp/app"]),
        )
    )
)
def test_no_two_that_live_have_one_name(steps: list[tuple[str, str, str]]) -> None:
    seen = SessionViews(max_sessions=3)
    for at, (session, kind, cwd) in enumerate(steps, start=1):
        if kind == "start over":
            seen.start_over()
        elif kind in {"gone", "unknown"}:
            seen.inferred(record(session, at, state=kind, why="looked"))
        else:
            seen.touch(record(session, at, kind, **({"cwd": cwd} if cwd else {})))
        lives = [v.label for v in seen.views.values() if v.state is not SessionState.GONE]
        assert len(lives) == len(set(lives))


def test_ids_that_begin_alike_end_in_a_number_at_last() -> None:
    seen = SessionViews()
    for session in ("ab", "a-b", "-ab", "a--b"):
        seen.touch(record(session, cwd="/home/u/app"))
    assert labels(seen) == ["app", "app~ab", "app~ab-2", "app~ab-3"]


def test_the_first_words_that_are_asked_for_are_its_title() -> None:
    seen = SessionViews()
    key = "AKIA" + "ABCDEFGH12345678"  # assembled, so that no scanner takes it for a leak
    seen.touch(record("one", kind="prompt.submit", text=f"fix the  login\nwith {key} " + "x" * 99))
    seen.touch(record("one", 2, kind="prompt.submit", text="and the tests"))
    title = seen.views["claude", "one"].title
    assert title.startswith("fix the login with ")
    assert key not in title
    assert len(title) == TITLE_CHARS == 80


def test_a_folder_that_is_told_later_names_it_then() -> None:
    seen = SessionViews()
    seen.touch(record("0123456789"))
    assert seen.views["claude", "0123456789"].label == "01234567"
    seen.touch(record("0123456789", cwd="/home/u/app"))
    assert seen.views["claude", "0123456789"].label == "app"
    seen.touch(record("0123456789", cwd="/elsewhere"))
    assert seen.views["claude", "0123456789"].label == "app", "it is known by that name now"


def test_labels_are_the_same_for_one_who_came_later() -> None:
    """A console that attaches names the sessions to come as the core does."""
    seen = SessionViews()
    for session in ("0123456789-a", "0123456789-b", "0123456789-c"):
        seen.touch(record(session))
    seen.touch(record("0123456789-b", cwd="/home/u/app"))
    late = SessionViews(seen.views.values())
    for each in (seen, late):
        each.touch(record("0123456789-d"))
        each.touch(record("another", cwd="/tmp/app"))
    assert [view.label for view in late.views.values()] == [
        "01234567",
        "app",
        "01234567~01234",
        "01234567~0123",
        "app~anot",
    ]
    assert late.views == seen.views


def test_the_label_of_a_session_that_was_let_go_is_free_again() -> None:
    seen = SessionViews(max_sessions=2)
    for at in range(1, 6):
        seen.touch(record(f"s{at}", at, cwd="/home/u/app"))
    assert labels(seen) == ["app~s4", "app"]


def test_a_folder_that_looks_like_such_a_name_has_it_alone() -> None:
    seen = SessionViews()
    for session, cwd in (("a", "/x/app~c"), ("b", "/x/app"), ("c", "/y/app")):
        seen.touch(record(session, cwd=cwd))
    assert labels(seen) == ["app~c", "app", "app~c-2"]


def test_the_longest_unheard_of_go_first_and_those_that_ask_stay() -> None:
    seen = SessionViews(max_sessions=4)
    for at in range(1, 5):
        seen.touch(record(f"s{at}", at))
    seen.ask(("claude", "s1"), 1)
    seen.touch(record("s5", 5))
    assert [session for _, session in seen.views] == ["s1", "s3", "s4", "s5"]


def test_sessions_that_ended_go_before_any_other() -> None:
    seen = SessionViews(max_sessions=4)
    for at in range(1, 5):
        seen.touch(record(f"s{at}", at))
    seen.touch(record("s4", 9, kind="session.end"))
    seen.touch(record("s5", 10))
    assert [session for _, session in seen.views] == ["s1", "s2", "s3", "s5"]


def test_a_session_that_was_let_go_is_changed_no_more() -> None:
    seen = SessionViews()
    seen.ask(("claude", "gone"), 1)
    seen.edit(("claude", "gone"), gated=True)
    assert seen.views == {}


def test_a_new_core_knows_nothing_of_what_they_do() -> None:
    seen = SessionViews()
    seen.touch(record("a"))
    seen.touch(record("b", kind="session.end"))
    seen.ask(("claude", "a"), 1)
    seen.start_over()
    states = {view.session: (view.state, view.pending) for view in seen.views.values()}
    assert states == {"a": (SessionState.UNKNOWN, 0), "b": (SessionState.GONE, 0)}


@pytest.mark.parametrize("odd", [5, ["x"], {"a": 1}, True])
def test_data_of_another_shape_is_passed_over(odd: Any) -> None:
    seen = SessionViews()
    seen.touch(record("a", cwd=odd, mode=odd, model=odd, autonomous="yes"))
    view = seen.views["claude", "a"]
    assert (view.cwd, view.mode, view.model, view.autonomous) == ("", None, None, False)


def test_a_session_that_was_only_taken_to_be_gone_lives_again_with_its_next_event() -> None:
    seen = SessionViews()
    seen.touch(record("one"))
    seen.edit(("claude", "one"), state=SessionState.GONE, why="its process has ended")
    seen.touch(record("one", at=2))
    view = seen.views["claude", "one"]
    assert (view.state, view.why) == (SessionState.WORKING, "")


def test_the_share_of_allows_and_how_long_they_took_is_kept() -> None:
    seen = SessionViews()
    seen.touch(record("a"))
    for waited_s, allowed in ((0.5, True), (9.0, False), (0.6, True)):
        seen.answered(("claude", "a"), waited_s, allowed=allowed)
    view = seen.views["claude", "a"]
    assert (view.allowed, view.answered, view.median_s) == (2, 3, 0.6)
    for _ in range(2 * MAX_WAITS):
        seen.answered(("claude", "a"), 3.0, allowed=True)
    view = seen.views["claude", "a"]
    assert (view.answered, view.median_s, len(view.waits)) == (3 + 2 * MAX_WAITS, 3.0, MAX_WAITS)


def test_a_session_is_paused_until_its_time_is_over_or_something_of_it_is_allowed() -> None:
    seen = SessionViews()
    paused = record("a", kind="policy.paused", why="8 of its calls wait", until=90)
    seen.touch(paused)
    seen.paused(paused)
    assert seen.views["claude", "a"].paused_until == 90
    seen.answered(("claude", "a"), 1.0, allowed=False)
    assert seen.views["claude", "a"].paused_why == "8 of its calls wait"
    seen.answered(("claude", "a"), 1.0, allowed=True)
    assert seen.views["claude", "a"].paused_until == 0


@pytest.mark.parametrize("cost", [1e308, -1.0, "much", True])
def test_a_cost_that_is_no_amount_of_money_is_not_known(cost: Any) -> None:
    seen = SessionViews()
    seen.touch(record("s"))
    seen.used(record("s", kind="usage", total_cost_usd=0.5))
    seen.used(record("s", kind="usage", total_cost_usd=cost))
    assert seen.views["claude", "s"].cost_usd == 0.5


def asking(*calls: str) -> SessionViews:
    """One session that asks in its own terminal about these calls."""
    seen = SessionViews()
    seen.touch(record("one", 1, kind="prompt.submit"))
    for call in calls:
        seen.asks_there(("claude", "one"), call)
    return seen


def test_an_agent_that_asks_in_its_own_terminal_needs_a_person_there() -> None:
    view = asking("c1").views["claude", "one"]
    assert view.shown is SessionState.NEEDS_THERE
    assert view.at(10**15).state is SessionState.NEEDS_THERE, "however long nothing is heard"
    assert str(view.shown) == "needs you there"


def test_an_open_request_outranks_what_is_asked_there_and_the_end_outranks_both() -> None:
    seen = asking("c1")
    seen.ask(("claude", "one"), 1)
    shown = [seen.views["claude", "one"].shown]
    seen.touch(record("one", 2, kind="session.end"))
    shown.append(seen.views["claude", "one"].shown)
    assert shown == [SessionState.WAITING, SessionState.GONE]


@pytest.mark.parametrize(
    "kind",
    """prompt.submit turn.end turn.error turn.interrupt session.start tool.batch message
    model.request""".split(),
)
def test_whoever_goes_on_asks_no_more(kind: str) -> None:
    seen = asking("c1", "c2", "")
    seen.touch(record("one", 2, kind=kind))
    assert seen.views["claude", "one"].asks_there == ()


@pytest.mark.parametrize("kind", ["tool.post", "tool.error", "tool.permission.resolved"])
def test_the_end_of_one_call_answers_that_one_alone(kind: str) -> None:
    seen = asking("c1", "c2", "")
    seen.touch(msgspec.structs.replace(record("one", 2, kind=kind), call="c1"))
    assert seen.views["claude", "one"].asks_there == ("c2",)


def test_a_sub_agent_that_goes_on_answers_nothing_of_the_others() -> None:
    seen = asking("c1")
    seen.touch(msgspec.structs.replace(record("one", 2, kind="message"), sub="s1"))
    assert seen.views["claude", "one"].asks_there == ("c1",)


def test_a_turn_begins_anew_with_each_prompt() -> None:
    seen = asking()
    seen.touch(record("one", 7, kind="tool.pre"))
    assert seen.views["claude", "one"].since == 1
    seen.touch(record("one", 9, kind="prompt.submit"))
    assert seen.views["claude", "one"].since == 9
