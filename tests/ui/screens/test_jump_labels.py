"""Jump labels: a letter at every line, which goes to the line that it was drawn on, or nowhere."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from textual.events import AppFocus, Paste

from tests.ui.console_bench import Bench, running
from tests.ui.picture import NOW_US, busy, quiet
from tests.ui.trace_picture import traced
from watchgate.core.model.records import Record
from watchgate.ui.keys.jump_labels import ONE_LETTER, Labels
from watchgate.ui.screens.traces_screen import TracesScreen
from watchgate.ui.widgets.prompts.jump_prompt import JumpLabel, JumpPrompt


def called(number: int) -> Record:
    """The record of a call that nobody is asked about."""
    tool = {"name": "Read", "native": "Read", "cls": "read", "input": {}, "hash": "h"}
    return Record(
        v=1,
        seq=48_211 + number,
        core="core",
        at=NOW_US + number,
        kind="tool.pre",
        agent="claude",
        session="api-fix-session",
        call=f"new-{number}",
        data={"native": "PreToolUse", "lane": "gate-read", "gate": "handback", "risk": "low",
              "tool": tool, "summary": f"new {number}"},
    )  # fmt: skip


def labels(bench: Bench) -> dict[str, int]:
    """The labels on the screen and the line that each stands on."""
    shown = bench.app.screen.query(JumpLabel)
    return {label.label: label.region.y for label in shown if label.display}


def line(bench: Bench, y: int) -> str:
    """A line of the screen, its time of day and what follows it."""
    return bench.screen.splitlines()[y]


async def jumping(bench: Bench) -> dict[str, int]:
    await bench.press("apostrophe")
    await bench.until(lambda: isinstance(bench.app.focused, JumpPrompt))
    await bench.until(lambda: labels(bench))
    await bench.settle()
    return labels(bench)


async def test_a_letter_goes_to_the_line_that_it_stands_on() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        there = await jumping(bench)
        assert set("asdfg") <= set(there)
        wanted = line(bench, there["d"])
        await bench.press("d")
        await bench.until(lambda: not labels(bench))
        selected = bench.app.monitor.table.selected
        assert selected is not None
        assert selected.summary[:20] in wanted
        assert bench.app.focused is bench.app.monitor.table


async def test_more_lines_than_letters_take_two_and_the_first_narrows() -> None:
    async with running(quiet()) as bench:
        there = await jumping(bench)
        assert len(there) > ONE_LETTER
        assert {len(label) for label in there} == {2}
        wanted = line(bench, there["ad"])
        await bench.press("a")
        assert all(label.startswith("a") for label in labels(bench))
        await bench.press("d")
        selected = bench.app.monitor.table.selected
        assert selected is not None
        assert selected.summary[:12] in wanted


async def test_a_session_beside_the_calls_is_gone_to_as_well() -> None:
    async with running(quiet()) as bench:
        await jumping(bench)
        at_left = [each for each in bench.app.screen.query(JumpLabel) if each.region.x == 0]
        label = next(each.label for each in at_left if "gemini" in line(bench, each.region.y))
        await bench.press(*label)
        assert bench.app.monitor.listed
        assert bench.app.monitor.sessions.chosen == ("gemini", "ci-session")


async def test_no_letter_decides_while_labels_are_shown_and_escape_leaves() -> None:
    async with running(busy()) as bench:
        for key in ("A", "D", "X", "space", "1", "enter", "escape"):
            await jumping(bench)
            await bench.press(key)
            await bench.until(lambda: not labels(bench))
            assert bench.app.prompts.hints == ()
        await jumping(bench)
        await bench.press("a", "a", apart_s=0.02)
        assert not bench.source.asked
        assert bench.app.operator.marks.ids == set()


async def test_what_is_typed_before_the_labels_are_there_decides_nothing() -> None:
    async with running(busy()) as bench:
        bench.clock.advance(2)
        await bench.pilot.press("apostrophe", "a")
        bench.clock.advance(0.3)
        await bench.settle()
        bench.clock.advance(0.3)
        await bench.settle()
        assert not bench.source.asked
        assert "allow" not in bench.app.desk.note


async def test_labels_move_with_their_lines_and_go_away_with_them() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        there = await jumping(bench)
        wanted = line(bench, there["g"])
        bench.source.feed(*(called(number) for number in (1, 2)))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_213)
        await bench.settle()
        now = labels(bench)
        assert now["g"] == there["g"] - 2
        assert "a" not in now
        await bench.press("g")
        selected = bench.app.monitor.table.selected
        assert selected is not None
        assert selected.summary[:20] in wanted


async def test_a_label_whose_line_is_gone_goes_nowhere() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        await jumping(bench)
        before = bench.app.monitor.table.selected
        bench.source.feed(*(called(number) for number in range(1, 40)))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_250)
        await bench.settle()
        await bench.press("a")
        assert bench.app.monitor.table.selected is before
        assert not labels(bench)


async def test_labels_stand_at_their_lines_after_a_resize() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        await jumping(bench)
        await bench.pilot.resize_terminal(100, 20)
        await bench.settle()
        for jump in bench.app.monitor.jumps():
            shown = [each.region.y for each in bench.app.screen.query(JumpLabel)]
            assert jump.y in shown
        await bench.pilot.resize_terminal(40, 10)
        await bench.settle()
        await bench.until(lambda: not labels(bench))
        assert bench.app.prompts.hints == ()


async def test_a_paste_leaves_and_the_focus_of_the_terminal_changes_nothing() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        there = await jumping(bench)
        bench.app.post_message(AppFocus())
        await bench.settle()
        assert labels(bench) == there
        bench.app.screen.focused.post_message(Paste("d"))  # type: ignore[union-attr]
        await bench.until(lambda: not labels(bench))


async def test_the_calls_of_the_traces_are_gone_to() -> None:
    async with running(traced(), size=(80, 24)) as bench:
        await bench.press("3")
        there = await jumping(bench)
        wanted = line(bench, there["s"])
        await bench.press("s")
        screen = bench.app.screen
        assert isinstance(screen, TracesScreen)
        assert screen.selected is not None
        assert screen.selected.label[:8] in wanted


async def test_where_nothing_can_be_gone_to_the_key_says_so() -> None:
    async with running(msgspec.structs.replace(quiet(), rows=())) as bench:
        await bench.press("apostrophe")
        assert "no call to jump to yet" in bench.screen


@given(st.integers(0, 60), st.lists(st.integers(0, 200), max_size=300))
def test_no_label_is_given_twice_or_begins_another(count: int, lines: list[int]) -> None:
    made = Labels(count)
    given_ = {each: made.of(each) for each in lines}
    named = [label for label in given_.values() if label]
    assert len(set(named)) == len(named)
    assert all(made.of(each) == label for each, label in given_.items())
    assert not [(a, b) for a in named for b in named if a != b and b.startswith(a)]
