"""The list of sessions: sub-agents under their session, and why one is not gated."""

from __future__ import annotations

import msgspec

from tests.ui.console_bench import idle
from tests.ui.picture import NOW_US, sessions
from tests.ui.widgets_app import Stage, texts
from watchgate.core.model.session_view import SessionView, SubView
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.session_views import SessionViews
from watchgate.core.state.state import State
from watchgate.ui.view_model.overview import BARS
from watchgate.ui.widgets.session.session_list import Sessions


async def drawn(*views: SessionView) -> list[str]:
    state = State(max_rows=1)
    state.session_views = SessionViews(views)
    widget = Sessions()
    async with Stage(widget).run_test(size=(32, 36)):
        widget.show(state, NOW_US, stale=False)
        return [line.rstrip() for line in texts(widget)]


def with_subs(count: int) -> SessionView:
    subs = tuple(
        SubView(id=f"s{n}", type=f"helper-{n}", state=SessionState.WORKING, calls=n)
        for n in range(count)
    )
    return msgspec.structs.replace(sessions(waiting=False)[0], subs=subs)


async def test_sub_agents_stand_under_their_session_with_what_they_do() -> None:
    lines = await drawn(with_subs(2))
    place = next(n for n, line in enumerate(lines) if "api-fix" in line)
    assert lines[place + 2].split() == ["helper-0", "working", "0"]
    assert lines[place + 3].split() == ["helper-1", "working", "1"]
    assert lines[place + 2].startswith("    helper-0")


async def test_many_sub_agents_are_counted() -> None:
    lines = await drawn(with_subs(9))
    assert [line for line in lines if "more sub-agents" in line] == ["    6 more sub-agents"]


async def test_one_that_ended_is_not_shown() -> None:
    view = with_subs(1)
    gone = tuple(msgspec.structs.replace(sub, state=SessionState.GONE) for sub in view.subs)
    lines = await drawn(msgspec.structs.replace(view, subs=gone))
    assert not any("helper" in line for line in lines)


async def test_a_session_that_is_not_gated_says_why() -> None:
    view = msgspec.structs.replace(
        sessions()[3], cause="the agent was started with its hooks off (--bare)"
    )
    said = " ".join(" ".join(await drawn(view)).split())
    assert "NOT GATED" in said
    assert "web: the agent was started with its hooks off (--bare)" in said


async def test_a_long_cause_is_shown_to_its_end() -> None:
    cause = (
        "no hook of it was ever heard: the agent probably began before its hooks were installed;"
        " start it again"
    )
    said = " ".join(
        " ".join(await drawn(msgspec.structs.replace(sessions()[3], cause=cause))).split()
    )
    assert cause in said


def two_not_gated() -> tuple[SessionView, SessionView]:
    older = sessions()[3]
    newer = msgspec.structs.replace(older, session="newer", label="docs", cause="its hooks are off")
    return msgspec.structs.replace(older, cause="nobody trusts its hooks"), newer


async def test_the_cause_shown_is_that_of_the_session_under_the_cursor_else_of_the_newest() -> None:
    older, newer = two_not_gated()
    gated = sessions(waiting=False)[0]
    lines = await drawn(gated, older, newer)
    assert any("docs: its hooks are off" in line for line in lines)
    assert not any("nobody trusts" in line for line in lines)
    lines = await drawn(older, newer)
    assert any("web: nobody trusts its" in line for line in lines)


async def test_a_session_of_no_known_cause_is_not_told_that_installing_helps() -> None:
    """Hooks that nobody trusts are installed already."""
    said = " ".join(" ".join(await drawn(sessions()[3])).split())
    assert "web: only watched, nothing of it is held. watchgate doctor" in said
    assert "install" not in said


def asking_there(view: SessionView) -> SessionView:
    return msgspec.structs.replace(view, pending=0, asks_there=("c1",))


async def test_one_that_asks_in_its_own_terminal_says_that_it_needs_you_there() -> None:
    lines = await drawn(asking_there(sessions(waiting=False)[0]))
    place = next(n for n, line in enumerate(lines) if "api-fix" in line)
    assert lines[place + 1].startswith("  ? needs you there")
    assert lines[place + 1].endswith("$1.12")


async def test_who_needs_a_person_comes_first() -> None:
    first, second, third, *_ = sessions(waiting=False)
    waiting = msgspec.structs.replace(third, pending=1)
    lines = await drawn(first, asking_there(second), waiting)
    order = [line.split()[-2] for line in lines if line.endswith(("claude", "codex", "gemini"))]
    assert order == [waiting.label, second.label, first.label]


async def test_a_bar_that_would_touch_the_cost_is_left_out() -> None:
    view = sessions(waiting=False)[0]
    for cost, room in ((1.12, True), (1_112.0, False)):
        state = State(max_rows=1)
        state.session_views = SessionViews([msgspec.structs.replace(view, cost_usd=cost)])
        widget = Sessions()
        async with Stage(widget).run_test(size=(32, 36)):
            widget.show(state, NOW_US, stale=False)
            (line,) = [line for line in texts(widget) if "working" in line]
        assert any(bar in line for bar in BARS) is room


async def test_the_first_words_asked_for_tell_two_of_one_folder_apart() -> None:
    one = msgspec.structs.replace(sessions(waiting=False)[0], title="fix the login page")
    lines = await drawn(one)
    (line,) = [line for line in lines if "api-fix" in line]
    assert line == "> api-fix  fix the...    claude"


async def test_who_needs_a_person_is_in_sight_wherever_the_cursor_of_the_list_is() -> None:
    one = sessions(waiting=False)[0]
    many = [msgspec.structs.replace(one, session=f"s{n}", label=f"api-{n:02}") for n in range(30)]
    state = State(max_rows=1)
    widget = Sessions()
    state.session_views = SessionViews(many)
    async with Stage(widget).run_test(size=(32, 20)):
        widget.show(state, NOW_US, stale=False)
        widget.move(29)
        assert "api-29" in "\n".join(texts(widget))
        widget.blur()
        late = msgspec.structs.replace(one, session="late", label="late", pending=1)
        state.session_views = SessionViews([*many, late])
        widget.show(state, NOW_US, stale=False)
        await idle()
        lines = [line.rstrip() for line in texts(widget)]
        assert "late" in lines[1]
        assert "waiting" in lines[2]
        assert any("more, s lists them" in line for line in lines)
