"""The History screen: recorded calls by day, what became of each, and what to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.fake_source import FakeSession
from tests.ui.past_picture import CALLS, NEWEST, RECORDS, answering, past, row
from tests.ui.picture import CRITICAL, NOW_US, busy, quiet
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Refusal, Request, Result
from watchgate.ui.screens.history_screen import HistoryScreen
from watchgate.ui.source.recorded_calls import Page, Past
from watchgate.ui.widgets.history.history_list import HistoryList

FILTER = "risk>=high -state:done since:7d"


def history(bench: Bench) -> HistoryScreen:
    """The History screen, which is open."""
    screen = bench.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


@asynccontextmanager
async def opened(
    rows: tuple[HistoryRow, ...] | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    snapshot: Any = None,
    **more: Any,
) -> AsyncIterator[Bench]:
    """The screen with an answer to its first question."""
    async with running(snapshot or quiet(), size=size) as bench:
        bench.source.answer = answering(past() if rows is None else rows, **more)
        await bench.press("5")
        await bench.until(lambda: history(bench).past.begun)
        await bench.settle()
        yield bench


async def narrowed(bench: Bench, text: str = FILTER) -> None:
    """Type a filter and keep it."""
    await bench.press("slash")
    await bench.type(text)
    await bench.press("enter")
    await bench.until(lambda: history(bench).past.begun)
    await bench.settle()


def asked(bench: Bench, what: str = "calls") -> list[Request]:
    """The searches that the core was asked for."""
    return [each for each in bench.source.asked if (each.verb, each.what) == ("search", what)]


def tool(seq: int) -> Record:
    """A record that only says that there is something new."""
    return Record(v=1, seq=seq, core="core", at=NOW_US, kind="notice", data={})


async def test_key_five_lists_recorded_calls_by_day() -> None:
    async with opened() as bench:
        lines = [line.strip() for line in bench.screen.splitlines()]
        days = [line for line in lines if line.endswith(("today", "yesterday", "days ago"))]
        assert days == ["Fri 20 Nov   today", "Thu 19 Nov   yesterday", "Mon 16 Nov   4 days ago"]
        assert "11 of 48,211 records" in bench.screen
        await bench.press("1")
        assert bench.app.pages.top is bench.app.monitor


@pytest.mark.parametrize(
    "line",
    [
        "12:03:25  api-fix  claude   Bash   !!   T timed out       nobody, 0:30  docker compose",
        "10:15:40  ci       gemini   Bash   !!!  x denied          rule no-sudo  sudo rm",
        "17:22:09  web      cursor   Bash   !!!  # DENIED BUT RAN  a rule        chmod -R 777",
        "16:04:14  api-fix  claude   Edit   !!   ~ elsewhere       in Claude     ~/.zshrc  +2 -0",
        "15:59:30  api-fix  claude   Bash   !!   = by rule         docker-dev    docker compose",
        "18:40:33  infra    claude   Bash   !!   + allowed         you, twice    kubectl rollout",
    ],
)
async def test_every_outcome_has_its_words(line: str) -> None:
    async with opened() as bench:
        assert line in bench.screen


async def test_the_call_under_the_cursor_is_told_record_by_record() -> None:
    async with opened() as bench:
        await bench.press(*"jjjj")
        await bench.until(lambda: "it ran all the same" in bench.screen)
        for told in (
            "record 31,871",
            "17:22:09.114  x denied by rule         files/world-writable",
            "PostToolUse of the same call: Cursor did not obey",
            'what to do    Cursor may skip hooks for "always run" lists:  watchgate doctor cursor',
        ):
            assert told in bench.screen


async def test_enter_opens_the_timeline_and_esc_goes_back() -> None:
    async with opened(size=(80, 24)) as bench:
        await bench.press(*"jjjj")
        assert "what to do" not in bench.screen
        await bench.press("enter")
        await bench.until(lambda: "what to do" in bench.screen)
        assert history(bench).where == "timeline"
        assert "git push --force" not in bench.screen
        await bench.press("escape")
        assert history(bench).where == "history"
        assert history(bench).selected == past()[4]


async def test_a_filter_asks_the_core_and_esc_clears_it() -> None:
    async with opened() as bench:
        await narrowed(bench, "state:denied")
        assert "/ state:denied" in bench.screen
        assert "Esc clears" in bench.screen
        assert "4 of 48,211 records" in bench.screen
        assert "timed out" not in bench.screen
        await bench.press("escape")
        await bench.until(lambda: "11 of 48,211 records" in bench.screen)
        assert "Esc clears" not in bench.screen


async def test_no_match_says_which_condition_keeps_everything_back() -> None:
    async with opened() as bench:
        await narrowed(bench, "agent:codex tool:Edit since:30d")
        await bench.until(lambda: "without" in bench.screen)
        assert "No recorded call passes this filter." in bench.screen
        assert "without agent:codex   1 call" in bench.screen
        assert "without tool:Edit   2 calls" in bench.screen
        assert "without since:30d" not in bench.screen


async def test_an_answer_that_is_outdated_never_takes_the_place_of_a_newer_one() -> None:
    async with opened() as bench:
        slow = anyio.Event()
        whole, answer = FakeSession.call, bench.source.answer

        async def call(self: FakeSession, verb: Any, **fields: Any) -> Any:
            found = await whole(self, verb, **fields)
            if fields.get("filter") == "state:denied":
                await slow.wait()
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeSession, "call", call)
            screen = history(bench)
            screen.narrow("state:denied")
            await bench.settle()
            screen.narrow("agent:cursor")
            await bench.settle()
            slow.set()
            await bench.until(lambda: screen.past.begun)
        assert [each.agent for each in screen.past.rows] == ["cursor"]
        assert bench.source.answer is answer


async def test_a_filter_that_changes_while_conditions_are_weighed_is_asked_for() -> None:
    async with opened() as bench:
        screen, answer = history(bench), bench.source.answer

        def meanwhile(request: Request) -> Result | Refusal:
            if request.limit < 100:  # what one condition keeps back
                bench.source.answer = answer
                screen.narrow("agent:cursor")
            return answer(request)

        bench.source.answer = meanwhile
        screen.narrow("agent:codex tool:Edit")
        await bench.until(lambda: [each.agent for each in screen.past.rows] == ["cursor"])


async def test_a_timeline_that_cannot_be_fetched_is_not_asked_for_again_and_again() -> None:
    async with opened() as bench:
        known = bench.source.answer
        bench.source.answer = lambda request: (
            known(request)
            if request.what == "calls"
            else Refusal(id=request.id, refused="failed", message="no")
        )
        await bench.press("j")
        await bench.until(lambda: "its records are not kept" in bench.screen)
        count = len(asked(bench, "records"))
        for _ in range(5):
            await bench.settle()
        assert len(asked(bench, "records")) == count


async def test_a_timeline_that_comes_in_parts_is_told_whole() -> None:
    async with opened() as bench:
        known, parts = bench.source.answer, []

        def in_two(request: Request) -> ControlAnswer:
            answer = known(request)
            if request.what != "records":
                return answer
            parts.append(request.to_seq)
            first = request.from_seq or 0
            if len(parts) == 1:
                return Result(id=request.id, ok={"records": [], "next": first + 5})
            assert request.to_seq == first + 5
            return answer

        bench.source.answer = in_two
        await bench.press("j")
        await bench.until(lambda: "asked" in bench.screen)
        assert len(parts) == 2


async def test_new_calls_appear_and_the_cursor_stays_with_its_call() -> None:
    async with opened() as bench:
        await bench.press("j")
        before = history(bench).selected
        new = row(NEWEST + 1, outcome="denied", glyph="x", summary="new one")
        gone = past()[3].first

        def answer(request: Request) -> Result:
            page = {"calls": (new,), "gone": (gone,), "newest": NEWEST + 2, "records": RECORDS + 2}
            return Result(id=request.id, ok=page if request.from_seq else {})

        bench.source.answer = answer
        bench.source.feed(tool(RECORDS + 1))
        bench.clock.advance(2)
        await bench.until(lambda: "new one" in bench.screen)
        assert history(bench).selected == before
        assert asked(bench)[-1].from_seq == NEWEST + 1
        assert gone not in {each.first for each in history(bench).past.rows}


async def test_a_frozen_view_takes_no_new_calls() -> None:
    async with opened() as bench:
        await bench.press("z")
        count = len(asked(bench))
        bench.source.feed(tool(RECORDS + 1))
        bench.clock.advance(5)
        await bench.settle()
        assert len(asked(bench)) == count


async def test_older_calls_are_fetched_before_the_cursor_gets_there() -> None:
    rows = tuple(row(number) for number in range(400, 0, -1))
    async with opened(rows, size=(80, 24), records=400) as bench:
        assert len(history(bench).past.rows) == 100
        await bench.press("G")
        await bench.until(lambda: len(history(bench).past.rows) > 100)
        assert history(bench).selected == rows[99], "the cursor did not move by itself"
        for _ in range(4):
            await bench.press("G")
        await bench.until(lambda: history(bench).selected == rows[-1])
        assert "400 of 400 records" in bench.screen


def test_a_move_lays_out_no_list_anew() -> None:
    """With thousands of calls that would take longer than a key may."""
    held = Past()
    held.ask("")
    held.take(Page(calls=tuple(map(row, range(90, 0, -1)))))
    pane = HistoryList(held)
    pane._lay_out(airy=True)
    lines = pane._lines
    held.move(1)
    pane._lay_out(airy=True)
    assert pane._lines is lines
    held.change(Page(calls=(row(91),)))
    pane._lay_out(airy=True)
    assert len(pane._lines) == len(lines) + 1


async def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("watchgate.ui.source.recorded_calls.CALLS_MAX", 150)
    rows = tuple(row(number) for number in range(400, 0, -1))
    async with opened(rows, size=(80, 24), records=400) as bench:
        for _ in range(5):
            await bench.press("G")
        assert len(history(bench).past.rows) <= 200


async def test_a_lost_core_leaves_the_last_picture() -> None:
    async with opened() as bench:
        bench.source.lose()
        await bench.until(lambda: bench.app.bridge.link.lost)
        await bench.settle()
        assert "git push --force origin main" in bench.screen
        assert "core lost" in bench.screen
        bench.source.revive(quiet())
        bench.app.bridge.retry_now()
        before = len(asked(bench))
        await bench.until(lambda: len(asked(bench)) > before)


async def test_before_anything_was_recorded_it_says_what_will_stand_here() -> None:
    async with opened((), records=3) as bench:
        assert "No call has been recorded yet." in bench.screen
        await bench.press("enter", "j", "G")
        assert history(bench).where == "history"


async def test_a_refusal_is_told_and_the_search_is_tried_again() -> None:
    async with running(quiet()) as bench:
        why = "the journal journal.db is damaged"
        bench.source.answer = lambda r: Refusal(id=r.id, refused="failed", message=why)
        await bench.press("5")
        await bench.until(lambda: why in bench.screen)
        bench.source.answer = answering(past())
        bench.clock.advance(10)
        await bench.until(lambda: history(bench).past.begun)


async def test_an_answer_of_another_shape_is_told_as_that() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = lambda r: Result(id=r.id, ok={"calls": "none"})
        await bench.press("5")
        await bench.until(lambda: "cannot be read" in bench.screen)


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (160, 45), (48, 12), (100, 30)])
async def test_wide_and_hidden_characters_break_no_column(size: tuple[int, int]) -> None:
    hostile = "\x1b[31m\u202e[bold]\U0001f4a5 漢字漢字漢字 \r\n x"
    wide = msgspec.structs.replace(
        past()[0],
        label="漢字漢字漢字",
        tool="ツール道具箱",
        summary=hostile,
        by="\u202e漢字漢字漢字",
    )
    plain = past()[1]
    async with opened((wide, plain), size=size) as bench:
        pane = history(bench).list
        for y in range(pane.size.height):
            assert pane.render_line(y).cell_length == pane.size.width
        assert "\x1b" not in bench.screen
        assert "\u202e" not in bench.screen


async def test_c_copies_the_call_and_jump_labels_go_to_calls() -> None:
    async with opened() as bench:
        await bench.press("j", "c")
        assert bench.app.clipboard == "git push --force origin main"
        jumps = history(bench).jumps()
        assert len(jumps) == len(CALLS.strip().splitlines())
        jumps[4].go()
        await bench.settle()
        assert history(bench).selected == past()[4]


async def test_replay_needs_a_call() -> None:
    async with opened(()) as bench:
        assert "(p replay)" in bench.screen
        await bench.press("p")
        assert "no call to play" in bench.screen


async def test_the_dock_stays_and_deny_works_from_here() -> None:
    async with opened(snapshot=busy()) as bench:
        await bench.press("d")
        await bench.until(lambda: [r for r in bench.source.asked if r.verb == "decide"])
        (sent,) = (r for r in bench.source.asked if r.verb == "decide")
        assert (sent.request, sent.decision) == (CRITICAL, "deny")
