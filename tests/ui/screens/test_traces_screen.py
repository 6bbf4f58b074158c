"""The Traces screen: who was asked about a call, what each said, and what it cost."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.picture import HIGH, NOW_US, busy, quiet
from tests.ui.trace_picture import (
    PROMPT,
    REFUSED,
    call_of,
    ran,
    routine,
    skipped,
    traced,
    view,
)
from watchgate.core.model.records import Record, TraceData
from watchgate.core.model.verdicts import Run
from watchgate.core.state.traces import TracedCall
from watchgate.link.protocol import Snapshot
from watchgate.ui.screens.payload_screen import DetailScreen
from watchgate.ui.screens.text_screens import HelpScreen
from watchgate.ui.screens.traces_screen import TracesScreen
from watchgate.ui.widgets.traces.trace_page import SNIPPET

HOSTILE = "\x1b[31m\x07\u202e\u200b\r\n[bold]x[/]"


def one(time: str = "12:02:38", label: str = "ci", data: TraceData = REFUSED) -> Snapshot:
    """The picture with a single traced call."""
    return traced([view(time, label, data, call=call_of(time))])


def traces(bench: Bench) -> TracesScreen:
    """The Traces screen, which is open."""
    screen = bench.app.screen
    assert isinstance(screen, TracesScreen)
    return screen


def chosen(bench: Bench) -> TracedCall:
    """The call that the cursor is on."""
    selected = traces(bench).selected
    assert selected is not None
    return selected


async def test_key_three_opens_the_traces_and_one_goes_back() -> None:
    async with running(traced()) as bench:
        await bench.press("3")
        assert isinstance(bench.app.screen, TracesScreen)
        assert "uv run pytest -q tests/api" not in bench.screen
        await bench.press(*["k"] * 17)
        assert "uv run pytest -q tests/api" in bench.screen
        await bench.press("1")
        assert bench.app.pages.top is bench.app.monitor


async def test_sa_b10_the_results_of_hooks_stand_on_a_screen_of_their_own() -> None:
    async with running(one()) as bench:
        await bench.press("3", "enter", "j")
        for told in ("guard", "failed: exit 3", "26.5 ms", "KeyError: 'host'", "540 B"):
            assert told in bench.screen


async def test_cx_b15_a_handler_that_was_skipped_says_why_where_its_bar_would_be() -> None:
    async with running(one()) as bench:
        await bench.press("3")
        (line,) = [line for line in bench.screen.splitlines() if " policy " in line]
        assert "skipped" in line
        assert "decided before its turn" in line


async def test_sy_b4_a_verdict_that_is_not_allowed_here_is_shown_as_ignored_with_the_reason() -> (
    None
):
    async with running(one()) as bench:
        await bench.press("3")
        assert "ignored: inject is not allowed at tool.pre" in bench.screen


async def test_sd_b1_a_call_that_a_hook_hid_is_labelled_in_the_monitor_and_not_prevented() -> None:
    snapshot = busy()
    rows = tuple(
        msgspec.structs.replace(row, hidden_by="no-secrets") if row.tool == "Grep" else row
        for row in snapshot.rows
    )
    async with running(msgspec.structs.replace(snapshot, rows=rows)) as bench:
        assert "hidden from view by no-sec" in bench.screen
        assert '"watchgate off" in docs/' not in bench.screen


async def test_a_hidden_call_that_waits_for_an_operator_is_shown_all_the_same() -> None:
    snapshot = busy()
    rows = tuple(msgspec.structs.replace(row, hidden_by="x") for row in snapshot.rows)
    async with running(msgspec.structs.replace(snapshot, rows=rows)) as bench:
        pending = [line for line in bench.screen.splitlines() if "? waits" in line]
        assert pending
        assert not any("hidden" in line for line in pending)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_hostile_trace_does_not_reach_the_terminal(size: tuple[int, int]) -> None:
    data = msgspec.structs.replace(REFUSED, tool=HOSTILE, native=HOSTILE, summary=HOSTILE)
    trace = msgspec.structs.replace(
        view("12:03:11", "docs", data, call=HOSTILE), label=HOSTILE, agent=HOSTILE
    )
    async with running(traced([trace]), size=size) as bench:
        await bench.press("3")
        for keys in ("enter", "escape"):
            shown = "".join(s.text for s in bench.app.screen._compositor.render_strips())
            assert not [char for char in shown if char in "\x1b\x07\u202e\u200b\r\n"]
            await bench.press(keys)
        assert "<U+001B>" in bench.screen


async def test_enter_gives_the_keys_to_the_handlers_and_escape_gives_them_back() -> None:
    async with running(traced()) as bench:
        await bench.press("3", *["k"] * 17)
        chosen = traces(bench).selected
        await bench.press("enter", "j", "j")
        assert traces(bench).selected is chosen
        assert "policy   policy, gate" in bench.screen
        await bench.press("escape", "k")
        assert traces(bench).selected is not chosen
        await bench.press("escape")
        assert bench.app.screen is bench.app.monitor


async def test_the_handler_that_took_longest_is_chosen_first() -> None:
    async with running(traced()) as bench:
        await bench.press("3", *["k"] * 17)
        assert "./hooks/fmt.sh   command, gate" in bench.screen


async def test_the_cursor_stays_on_its_call_when_others_come() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "k")
        before = chosen(bench)
        bench.source.feed(new_trace(48_212, "late"))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_212)
        await bench.settle()
        assert chosen(bench).key == before.key
        assert "+1 new" in bench.screen
        await bench.press("G")
        assert chosen(bench).key[2] == "late"


async def test_a_frozen_view_keeps_its_traces() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "z")
        bench.source.feed(new_trace(48_212, "late"))
        await bench.until(lambda: bench.app.bridge.state.seq == 48_212)
        await bench.settle()
        assert "12:04:47" not in bench.screen
        await bench.press("z")
        assert "12:04:47" in bench.screen


async def test_a_filter_narrows_the_calls_by_their_handlers_words_and_escape_clears_it() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "/")
        await bench.type("acme-guard")
        await bench.press("enter")
        assert [e.call.tool for e in traces(bench).list._entries] == ["Bash"]
        assert "/ acme-guard" in bench.screen
        assert bench.app.desk.filter == ""
        await bench.press("escape")
        assert len(traces(bench).list._entries) == 20
        assert isinstance(bench.app.screen, TracesScreen)


async def test_a_filter_that_nothing_passes_says_so() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "/")
        await bench.type("nowhere")
        await bench.press("enter")
        assert "none passes nowhere" in bench.screen


async def test_the_dock_goes_on_deciding_and_a_opens_the_whole_request() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "tab", "d")
        await bench.until(lambda: bench.source.asked)
        assert (bench.source.asked[0].decision, bench.source.asked[0].request) == ("deny", HIGH)
        await bench.press("a")
        assert isinstance(bench.app.screen, DetailScreen)
        assert len(bench.source.asked) == 1
        await bench.press("escape")
        assert isinstance(bench.app.screen, TracesScreen)


async def test_help_closes_to_the_traces_that_it_was_opened_from() -> None:
    async with running(traced()) as bench:
        await bench.press("3", "question_mark")
        assert isinstance(bench.app.screen, HelpScreen)
        await bench.press("escape")
        assert isinstance(bench.app.screen, TracesScreen)


async def test_without_a_trace_it_tells_what_a_hook_is_and_copies_one() -> None:
    async with running(quiet(), size=(80, 24)) as bench:
        await bench.press("3", "c")
        assert "No hook has been asked yet." in bench.screen
        assert "[[handler]]" in bench.screen
        assert "watchgate config path" in bench.screen
        assert bench.app.clipboard == SNIPPET


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_where_there_is_less_room_enter_shows_the_waterfall(size: tuple[int, int]) -> None:
    async with running(one(), size=size) as bench:
        await bench.press("3")
        assert "failed: exit 3" not in bench.screen
        assert "http://10.0.0.7" in bench.screen
        await bench.press("enter")
        assert "failed: exit 3" in bench.screen
        await bench.press("escape")
        assert "in hooks" in bench.screen


@pytest.mark.parametrize("size", [(20, 5), (48, 12), (60, 16), (80, 24), (112, 30), (160, 45)])
async def test_it_is_drawn_at_every_size(size: tuple[int, int]) -> None:
    async with running(traced(), size=size) as bench:
        await bench.press("3", "k", "enter", "j", "pagedown", "G", "g", "escape")
        assert isinstance(bench.app.screen, TracesScreen)


async def test_handlers_out_of_view_are_counted_and_reached() -> None:
    rows = tuple(ran(f"handler-{n}", n, 1) for n in range(40))
    data = msgspec.structs.replace(REFUSED, rows=rows)
    async with running(one(data=data), size=(80, 24)) as bench:
        await bench.press("3", "enter")
        assert "handler-39" not in bench.screen
        assert "lines   j k" in bench.screen
        await bench.press("G")
        assert "> handler-39" in bench.screen


async def test_a_long_output_is_scrolled_by_pages() -> None:
    long = ran("loud", 0, 9, run=Run(stdout="\n".join(f"line {n}" for n in range(1, 31))))
    data = msgspec.structs.replace(REFUSED, rows=(long, skipped("other", "once")))
    async with running(one(data=data), size=(80, 24)) as bench:
        await bench.press("3", "enter")
        assert "line 1\n" in bench.screen
        assert "line 30" not in bench.screen
        await bench.press(*["pagedown"] * 8)
        assert "line 30" in bench.screen
        assert "Hooks and rules took" in bench.screen


async def test_the_slowest_hook_of_the_day_stands_beside_the_screens() -> None:
    async with running(traced()) as bench:
        await bench.press("3")
        assert "slowest hook today ./hooks/fmt.sh  p95 214 ms" in bench.screen


async def test_events_without_a_call_are_lines_of_their_own() -> None:
    async with running(traced([view("12:03:20", "ci", PROMPT)])) as bench:
        await bench.press("3")
        assert "prompt" in bench.screen
        assert "UserPromptSubmit" in bench.screen
        assert "340 characters for the model" in bench.screen


def new_trace(seq: int, call: str) -> Record:
    """A trace that arrives now."""
    data = routine("12:04:47", 2.0, tool="Read", summary="late.md")
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=NOW_US - 1_000_000,
        kind="hook.trace",
        agent="claude",
        session="api-fix-session",
        call=call,
        data=msgspec.to_builtins(data),
    )
