"""The live table: what its lines say, and that nothing in it moves by itself."""

from __future__ import annotations

from datetime import UTC

import msgspec
import pytest
from rich.cells import cell_len

from tests.ui.requests import NOW, row
from tests.ui.widgets_app import Stage, strips, texts
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.state import State
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.calls.call_columns import RowLook, columns, draw_call, header
from watchgate.ui.widgets.calls.call_table import RingTable


def text(call: CallRow, cells: int = 88, look: RowLook = RowLook()) -> str:  # noqa: B008 - a value
    return draw_call(call, cells, DARK, look, NOW, UTC).strip(cells).text


def state_with(*rows: CallRow, capacity: int = 1_000) -> State:
    state = State(max_rows=capacity)
    for call in rows:
        state.calls.add(call)
    return state


class Shown:
    """A table of 80 by 12 that shows a state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.table = RingTable(zone=UTC)
        self.app = Stage(self.table)
        self.now = NOW

    def add(self, *rows: CallRow) -> None:
        for call in rows:
            self.state.rows.append(call)
        self.show()

    def show(self, *, stale: bool = False) -> None:
        self.table.show(self.state, self.now, stale=stale)

    def calls(self) -> list[str]:
        return [line.split()[-1] for line in texts(self.table)[1:] if line]

    def cursor(self) -> list[str]:
        return [line.split()[-1] for line in texts(self.table) if line.startswith(">")]


@pytest.mark.parametrize(("cells", "call"), [(60, 18), (80, 24), (100, 44), (88, 32), (82, 26)])
def test_the_columns_are_those_of_the_style_guide(cells: int, call: int) -> None:
    assert columns(cells).call == call
    assert cell_len(header(cells, DARK).strip(cells).text) == cells


def test_a_routine_call() -> None:
    done = row(took_ms=2, summary="package.json")
    assert text(done) == (
        "  12:03:48  api-fix  Read   .      done          2 ms  package.json                     "
    )


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            {"glyph": "?", "stage": "pending", "ended_at": None, "took_ms": None},
            "? waits 1:00       -",
        ),
        ({"stage": "running", "ended_at": None, "took_ms": None}, "  running       1:00"),
        ({"glyph": "x", "stage": "denied", "took_ms": None}, "x denied           -"),
        ({"glyph": "T", "stage": "timed out", "took_ms": None}, "T timed out        -"),
        ({"glyph": "=", "stage": "done", "took_ms": 12_400}, "= done        12.4 s"),
        ({"glyph": "b", "stage": "handed back", "took_ms": 200}, "b handed back  0.2 s"),
        ({"glyph": "x", "stage": "DENIED BUT RAN", "alarm": True}, "# DENIED BUT RAN    "),
    ],
)
def test_state_is_a_glyph_and_a_word(facts: dict[str, object], words: str) -> None:
    assert text(msgspec.structs.replace(row(), **facts))[33:53] == words


def test_wide_and_combining_characters_never_break_the_columns() -> None:
    call = row(label="漢字漢字漢字", tool="e\u0301" * 9, summary="漢" * 60)
    strip = draw_call(call, 80, DARK, RowLook(), NOW, UTC).strip(80)
    assert strip.cell_length == cell_len(strip.text) == 80
    assert "done" in strip.text


def test_hostile_text_is_escaped() -> None:
    call = row(label="\x1b[2J", tool="\u202ex", summary="a\nb\x1b]0;pwned\x07")
    shown = text(call, 160)
    assert "\x1b" not in shown
    assert "a\\nb<U+001B>]0;pwned<U+0007>" in shown


def test_what_a_lost_core_left_is_grey_and_has_no_times() -> None:
    pending = row(glyph="?", stage="pending", ended_at=None, took_ms=None)
    line = draw_call(pending, 88, DARK, RowLook(stale=True), NOW, UTC).strip(88)
    assert line.text[33:53] == "? pending          -"
    colors = {segment.style.color for segment in line if segment.style and segment.text.strip()}
    assert {color.name for color in colors if color} == {DARK.colors["off"]}


def test_the_cursor_of_a_lost_core_is_as_quiet_as_its_rows() -> None:
    look = RowLook(cursor=True, focus=True, stale=True)
    line = draw_call(row(), 88, DARK, look, NOW, UTC).strip(88)
    styles = [segment.style for segment in line if segment.style]
    assert {style.bgcolor.name for style in styles if style.bgcolor} == {DARK.colors["s2"]}
    assert styles[0].color is not None
    assert styles[0].color.name == DARK.colors["dim"]


def test_sd_15_a_call_that_is_shown_rewritten_says_so_and_how_it_ran() -> None:
    written = {"shown": "make \x1b[2Jall", "shown_by": "tidy", "summary": "make"}
    shown = text(msgspec.structs.replace(row(), **written), 160)
    assert "shown rewritten by tidy, it ran as it was: make <U+001B>[2Jall" in shown
    narrow = text(msgspec.structs.replace(row(), **written), 80)
    assert "shown rewritten by ti" in narrow, "what is cut is the rewrite, not that it is one"


@pytest.mark.parametrize(
    "facts",
    [{"stage": "pending", "glyph": "?"}, {"stage": "denied", "glyph": "x"}, {"alarm": True}],
    ids=str,
)
def test_a_call_that_did_not_run_as_it_was_is_shown_in_its_own_words(
    facts: dict[str, object],
) -> None:
    written = {"shown": "make all", "shown_by": "tidy", "summary": "rm -rf build", **facts}
    shown = text(msgspec.structs.replace(row(), **written), 120)
    assert "rm -rf build" in shown
    assert "rewritten" not in shown


def test_an_alarm_fills_its_row() -> None:
    alarm = row(stage="RAN ALTERED", alarm=True)
    line = draw_call(alarm, 88, DARK, RowLook(), NOW, UTC).strip(88)
    grounds = {segment.style.bgcolor for segment in line if segment.style}
    assert {ground.name for ground in grounds if ground} == {DARK.colors["alarm"]}


@pytest.mark.anyio
async def test_it_follows_the_newest_row_and_the_cursor_stays() -> None:
    shown = Shown(state_with(*(row(n) for n in range(5))))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        assert shown.cursor() == ["src/file_4.py"]
        shown.add(*(row(n) for n in range(5, 10)))
        assert shown.calls()[-1] == "src/file_9.py"
        assert shown.cursor() == ["src/file_4.py"]
        shown.add(*(row(n) for n in range(10, 100)))
        assert shown.calls() == [f"src/file_{n}.py" for n in range(89, 100)]
        assert shown.cursor() == []
        assert shown.table.selected == row(4)


@pytest.mark.anyio
async def test_going_up_ends_following_and_counts_what_is_new() -> None:
    shown = Shown(state_with(*(row(n) for n in range(50))))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        shown.table.move(-1)
        assert not shown.table.follow
        before = texts(shown.table)
        shown.add(*(row(n) for n in range(50, 178)))
        assert texts(shown.table) == before
        assert shown.table.new_count == 128
        shown.table.to_end()
        assert shown.table.follow
        assert shown.table.new_count == 0
        assert shown.cursor() == ["src/file_177.py"]


@pytest.mark.anyio
async def test_text_stands_still_while_old_rows_fall_out() -> None:
    shown = Shown(state_with(*(row(n) for n in range(100)), capacity=100))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        shown.table.page(-1)
        before = texts(shown.table)
        shown.add(*(row(n) for n in range(100, 130)))
        assert texts(shown.table) == before
        shown.add(*(row(n) for n in range(130, 400)))
        assert shown.calls()[0] == "src/file_300.py"
        assert shown.table.selected is None


@pytest.mark.anyio
async def test_top_page_and_select() -> None:
    shown = Shown(state_with(*(row(n) for n in range(100))))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        shown.table.to_top()
        assert shown.cursor() == ["src/file_0.py"]
        shown.table.page(1)
        assert shown.cursor() == ["src/file_10.py"]
        shown.table.move(-3)
        shown.table.select(50)
        assert shown.cursor() == ["src/file_50.py"]


@pytest.mark.anyio
async def test_a_running_call_ticks_once_a_second_and_only_its_line_is_drawn_again() -> None:
    busy = row(3, stage="running", ended_at=None, took_ms=None, at=NOW - 5_000_000)
    shown = Shown(state_with(row(1), busy, row(2)))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        quiet, ticking = strips(shown.table)[1:3]
        assert "5 s" in ticking.text
        shown.now += 1_000_000
        shown.show()
        assert strips(shown.table)[1] is quiet
        assert "6 s" in strips(shown.table)[2].text


@pytest.mark.anyio
async def test_a_filter_keeps_the_cursor_and_shows_matches_only() -> None:
    shown = Shown(state_with(*(row(n, tool="Bash" if n % 2 else "Read") for n in range(20))))
    async with shown.app.run_test(size=(80, 30)):
        shown.show()
        shown.table.keep(lambda call: call.tool == "Bash")
        assert len(shown.calls()) == 10
        assert shown.cursor() == ["src/file_19.py"]
        shown.table.keep(lambda call: call.tool == "Edit")
        assert "no call matches" in texts(shown.table)[2]
        shown.table.keep(None)
        assert len(shown.calls()) == 20


@pytest.mark.anyio
async def test_the_cursor_leaves_a_call_that_the_filter_leaves_out() -> None:
    shown = Shown(state_with(*(row(n, tool="Bash" if n % 2 else "Read") for n in range(20))))
    async with shown.app.run_test(size=(80, 30)):
        shown.show()
        shown.table.keep(lambda call: call.tool == "Read")
        assert shown.cursor() == ["src/file_18.py"]
        assert shown.table.selected is not None
        assert shown.table.selected.call == "c18"
        shown.table.keep(lambda call: call.tool == "Edit")
        assert shown.table.selected is None, "what is not shown is not opened"


@pytest.mark.anyio
async def test_a_new_core_keeps_the_cursor_on_the_same_call() -> None:
    shown = Shown(state_with(*(row(n) for n in range(20))))
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        shown.table.move(-2)
        again = state_with(*(row(n) for n in range(15, 20)))
        shown.state = again
        shown.show()
        assert shown.cursor() == ["src/file_17.py"]


@pytest.mark.anyio
@pytest.mark.parametrize("filtered", [False, True])
async def test_rows_that_fell_out_since_the_last_picture_are_not_asked_for(filtered: bool) -> None:
    shown = Shown(state_with(*(row(n) for n in range(30)), capacity=30))
    async with shown.app.run_test(size=(80, 12)) as pilot:
        shown.show()
        if filtered:
            shown.table.keep(lambda call: True)
        shown.table.to_top()
        for n in range(30, 55):
            shown.state.rows.append(row(n))
        shown.table.move(-1)
        shown.table.page(1)
        shown.table.select(0)
        await pilot.resize_terminal(80, 9)
        shown.table.to_top()
        assert shown.cursor() == ["src/file_25.py"]


@pytest.mark.anyio
async def test_without_rows_nothing_breaks() -> None:
    shown = Shown(State())
    async with shown.app.run_test(size=(80, 12)):
        shown.show()
        for step in (-1, 1):
            shown.table.move(step)
            shown.table.page(step)
        shown.table.to_top()
        shown.table.to_end()
        assert texts(shown.table)[0].split()[0] == "time"
        assert shown.table.selected is None


def test_the_row_of_an_alarm_counts_the_calls_that_it_speaks_for() -> None:
    why = "no hook was heard"
    call = row(stage="ran ungated", alarm=True, why=why, speaks_for=37)
    words = "37 calls ran without the gate: no hook was heard"
    assert words in text(call, 160)
    assert words not in text(msgspec.structs.replace(call, speaks_for=1), 160)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("general-purpose", "general"),
        ("explore", "explore"),
        ("code-reviewer", "code"),
        ("statusline", "statusli"),
    ],
)
def test_the_name_of_a_sub_agent_is_cut_behind_a_word(name: str, shown: str) -> None:
    called = row(2, sub="s1", sub_type=name)
    line = draw_call(called, 80, DARK, RowLook(), NOW, None).strip(80).text
    assert f"  {shown}: " in line


def test_sessions_have_more_room_in_a_wide_table() -> None:
    assert [columns(cells).session for cells in (60, 80, 109, 110, 180)] == [8, 9, 9, 17, 17]
