"""A session and its sub-agents: who they are, what each does now, and who asks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.console_bench import running
from tests.ui.picture import NOW_US, busy, call_rows, critical_request, sessions
from tests.ui.requests import NOW, pending, row
from watchgate.core.model.events import Sub
from watchgate.core.model.session_view import SessionView, SubView
from watchgate.core.model.sessions import SessionState
from watchgate.link.protocol import Snapshot
from watchgate.ui.base.theme import DARK
from watchgate.ui.screens.payload_screen import SessionScreen
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.session.session_page import branches, session_lines, tree_lines

SUBS = (
    SubView(id="ag-gone", type="explore", state=SessionState.GONE, since=NOW, calls=41),
    SubView(
        id="ag-1", type="reviewer", state=SessionState.WORKING, since=NOW - 65_000_000, calls=7
    ),
    SubView(id="ag-2", type="tester", state=SessionState.WORKING, since=NOW, calls=2),
)
VIEW = SessionView(
    agent="claude", session="s1", label="api-fix", state=SessionState.WORKING, calls=60, subs=SUBS,
    since=NOW - 65_000_000, seen_at=NOW, cwd="/home/ana/src", ran=60, passed=60, gated=True,
)  # fmt: skip
ROWS = (
    row(1, summary="README.md"),
    row(2, sub="ag-1", sub_type="reviewer", summary="old"),
    row(3, sub="ag-1", sub_type="reviewer", tool="Bash", summary="make test",
        stage="running", ended_at=None),
)  # fmt: skip
ASKS = pending("rm -rf build", sub=Sub("ag-2", "tester"), risk="high", findings=())


def shown(cells: int = 100, **facts: Any) -> list[str]:
    view = msgspec.structs.replace(VIEW, **facts)
    lines = tree_lines(branches(view, ROWS, [ASKS]), NOW, cells, DARK)
    assert all(line.left_cells + line.right_cells <= cells for line in lines)
    return [line.strip(cells).text.rstrip() for line in lines]


def test_each_agent_has_its_state_its_calls_and_what_it_does_now() -> None:
    assert shown(cells=70) == [
        "  main agent            working  1 min    10 calls",
        "  |  last done  .  Read  README.md",
        "  |- reviewer           working  1 min     7 calls               ag-1",
        "  |  now  running  .  Bash  make test",
        "  |- tester             waiting            2 calls               ag-2",
        "  |  ? asks  !!  Bash  rm -rf build",
        "  `- explore            gone  0 s         41 calls            ag-gone",
    ]


def test_a_call_whose_turn_ended_without_its_result_is_not_what_is_done_now() -> None:
    view = msgspec.structs.replace(VIEW, subs=())
    lost = row(1, summary="make test", stage="no result", ended_at=None)
    _, doing, *_ = tree_lines(branches(view, (lost,), []), NOW, 100, DARK)
    assert "last no result" in doing.strip(100).text


def test_those_that_ended_come_last() -> None:
    names = [branch.name for branch in branches(VIEW, ROWS, [])]
    assert names == ["main agent", "reviewer", "tester", "explore"]


def test_the_main_agents_calls_are_those_of_no_sub_agent() -> None:
    main, *_ = branches(VIEW, ROWS, [])
    assert main.calls == 60 - 41 - 7 - 2


def test_a_session_without_sub_agents_is_a_tree_of_one() -> None:
    assert len(branches(msgspec.structs.replace(VIEW, subs=()), ROWS, [])) == 1


def page(view: SessionView, cells: int = 100) -> str:
    sheet = Sheet(cells, DARK, "/home/ana")
    lines = session_lines(view, ROWS, [ASKS], NOW, sheet)
    assert all(line.left_cells + line.right_cells <= cells for line in lines)
    return "\n".join(line.strip(cells).text.rstrip() for line in lines)


def test_a_session_tells_who_where_and_what_the_gate_saw() -> None:
    text = page(msgspec.structs.replace(VIEW, model="opus", mode="plan", cost_usd=1.12))
    for words in (
        "  api-fix  claude",
        "gated        yes, 60 of 60 calls that ran",
        "cwd          ~/src",
        "mode         plan",
        "model        opus",
        "calls        60, 0 in the last minute",
        "cost         $1.12",
        "3 sub-agents, 2 not ended",
        "newest calls",
    ):
        assert words in text, words


def test_a_session_that_is_not_gated_says_why_and_an_unknown_cost_is_no_zero() -> None:
    text = page(msgspec.structs.replace(VIEW, gated=False, cause="its hooks are switched off"))
    assert "NOT GATED: its hooks are switched off" in text
    assert "cost         ?" in text


def test_a_pause_says_what_it_does() -> None:
    paused = msgspec.structs.replace(VIEW, paused_until=NOW + 42_000_000, paused_why="8 wait")
    assert "paused       0:42 more: 8 wait; what it would ask is denied" in page(paused)


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from([46, 60, 80, 120]))
def test_names_from_outside_never_break_the_columns(name: str, kind: str, cells: int) -> None:
    subs = (SubView(id=name, type=kind, state=SessionState.WORKING, since=NOW, calls=3),)
    text = page(msgspec.structs.replace(VIEW, label=name, subs=subs, mode=kind), cells)
    assert not set(text) & set("\x1b\x07\u202e")


def with_subs() -> Snapshot:
    """The busy picture, the first session with a sub-agent that asks."""
    api, *others = sessions()
    subs = (SubView(id="ag-1", type="reviewer", state=SessionState.WORKING, since=NOW_US),)
    view = critical_request()
    data = msgspec.structs.replace(view.data, sub=Sub("ag-1", "reviewer"))
    return msgspec.structs.replace(
        busy(),
        sessions=(msgspec.structs.replace(api, subs=subs, calls=20), *others),
        pending=(msgspec.structs.replace(view, data=data),),
    )


@pytest.mark.anyio
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_page_of_a_session_is_scrolled_to_its_end(size: tuple[int, int]) -> None:
    async with running(with_subs(), size=size) as bench:
        page = SessionScreen("claude", "api-fix-session", "/home/ana")
        bench.app.pages.open(page)
        await bench.settle()
        assert "api-fix" in bench.screen
        seen = bench.screen
        for _ in range(30):
            page.move(+1)
            await bench.settle()
            seen += bench.screen
        assert "reviewer" in seen
        assert "? asks" in seen
        oldest = next(each for each in call_rows() if each.label == "api-fix")
        assert oldest.summary[:12] in seen
        assert page.copied == "api-fix-session"


@pytest.mark.anyio
async def test_a_session_that_was_forgotten_says_so() -> None:
    async with running(busy()) as bench:
        bench.app.pages.open(SessionScreen("claude", "none", "/home/ana"))
        await bench.settle()
        assert "this session is not known any more" in bench.screen


@pytest.mark.anyio
async def test_v_in_the_list_of_sessions_opens_the_session_under_the_cursor() -> None:
    async with running(with_subs()) as bench:
        await bench.press("s", "j", "v")
        top = bench.app.pages.top
        assert isinstance(top, SessionScreen)
        assert top.key == ("codex", "docs-session")
        await bench.press("escape")
        assert bench.app.pages.top is bench.app.monitor
