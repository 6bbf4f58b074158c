"""The Costs screen: what is known of money and tokens, and that the rest is not known."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.cost_picture import spending, usage
from tests.ui.picture import NOW_US, busy, first_run, quiet
from watchgate.core.base.amounts import tokens
from watchgate.core.model.records import Record
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.restore import restore
from watchgate.core.usage.session_usage import NANO, SessionUsage
from watchgate.core.usage.usage_fold import DAY_US, UsageSnapshot
from watchgate.link.protocol import Snapshot
from watchgate.ui.base.formats import percent
from watchgate.ui.costs.cost_figures import costs
from watchgate.ui.costs.cost_sums import today, today_words
from watchgate.ui.screens.costs_screen import CostsScreen
from watchgate.ui.widgets.costs.cost_words import ordinal
from watchgate.ui.widgets.costs.usage_table import columns

HOSTILE = "\x1b[31m\u202e[bold]x[/]"


def screen(bench: Bench) -> CostsScreen:
    """The Costs screen, which is open."""
    found = bench.app.screen
    assert isinstance(found, CostsScreen)
    return found


def chosen(bench: Bench) -> str:
    """The label of the session under the cursor."""
    row = screen(bench).table.selected
    assert row is not None
    return row.label


def order(bench: Bench) -> list[str]:
    """The labels of the sessions as they stand."""
    return [row.label for row in screen(bench).table.rows]


def line(bench: Bench, label: str) -> str:
    """The line of the table with that label."""
    return next(each for each in bench.screen.splitlines() if each[2:].startswith(label))


def told(seq: int, label: str, agent: str, **data: Any) -> Record:
    """A `usage` record of one of the sessions."""
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=NOW_US,
        kind="usage",
        agent=agent,
        session=f"{label}-session",
        data={"native": "usage", **data},
    )


def many(count: int) -> Snapshot:
    """So many sessions that have ended, each dearer than the one before."""
    sessions = tuple(
        SessionUsage(
            agent="claude",
            session=f"s{number}",
            label=f"job-{number:02d}",
            cost=number * NANO,
            spent=tuple(
                msgspec.structs.replace(part, cost=number * NANO)
                for part in usage().sessions[0].spent
            ),
        )
        for number in range(1, count + 1)
    )
    return msgspec.structs.replace(quiet(), sessions=(), usage=UsageSnapshot(sessions=sessions))


async def test_key_four_shows_the_totals_sessions_models_and_days() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        for shown in (
            "$1.84", "$21.40", "$64.12", "now, per hour", "$4.20", "by model, 7 days", "$12.31",
            "where it went, api-fix", "cache reads", "by day", "by agent, 7 days", "$13.05",
            "estimates, not your invoice",
        ):  # fmt: skip
            assert shown in bench.screen
        assert line(bench, "api-fix")[2:].split() == [
            "api-fix", "claude", "claude-sonnet-4-5", "1.21", "M", "38.4", "k", "94", "%",
            "$1.12", "r", "━" * 6, "━━━━━━────", "62", "%",
        ]  # fmt: skip


async def test_what_is_unknown_is_a_question_mark_and_the_sum_says_at_least() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        assert line(bench, "web").split() == ["web", "copilot", *["?"] * 7]
        assert line(bench, "4 sessions").endswith("$1.84     at least")
        assert "without web: Copilot reports no usage" in bench.screen
        assert "unknown (copilot)" in bench.screen


async def test_an_agent_that_told_of_one_session_is_not_said_to_report_nothing() -> None:
    kept = usage()
    first = (msgspec.structs.replace(kept.sessions[0], agent="copilot", label="other"),)
    snapshot = msgspec.structs.replace(
        spending(), usage=msgspec.structs.replace(kept, sessions=(*kept.sessions, *first))
    )
    async with running(snapshot) as bench:
        await bench.press("4")
        assert "without web: no usage told yet" in bench.screen


async def test_where_there_is_no_room_to_say_what_is_missing_the_totals_show_it() -> None:
    async with running(spending(), size=(80, 24)) as bench:
        await bench.press("4")
        for total in ("$1.84+?", "$21.40+?", "$64.12+?"):
            assert total in bench.screen
    async with running(many(2), size=(80, 24)) as bench:
        await bench.press("4")
        (labels, figures) = bench.screen.splitlines()[2:4]
        assert labels.split()[0] == "today"
        assert "+?" not in figures.split()[0]


def test_a_session_that_ended_today_and_told_nothing_makes_the_sum_a_lower_bound() -> None:
    snapshot = spending()
    gone = [
        msgspec.structs.replace(each, state=SessionState.GONE, seen_at=NOW_US)
        for each in snapshot.sessions
    ]
    for days, is_lower_bound in ((0, True), (1, False)):
        sessions = [msgspec.structs.replace(each, seen_at=NOW_US - days * DAY_US) for each in gone]
        state = restore(
            seq=1, core="c", at=NOW_US, gate=snapshot.gate, sessions=sessions, usage=snapshot.usage
        )
        assert today(state, NOW_US).is_lower_bound is is_lower_bound


async def test_a_day_of_which_nothing_was_recorded_has_no_bar() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        assert "the 17th: nothing was recorded, so nothing is known" in bench.screen
        (marks,) = [each for each in bench.screen.splitlines() if "███ ?   ███" in each]
        assert marks.count("?") == 1


async def test_a_report_reaches_the_screen() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        bench.source.feed(told(48_212, "docs", "codex", total_cost_usd=0.91))
        await bench.settle()
        assert "$0.91" in line(bench, "docs")
        assert "$2.34" in line(bench, "4 sessions")


async def test_the_strip_and_the_screen_tell_the_same() -> None:
    async with running(spending(), size=(160, 45)) as bench:
        await bench.press("4")
        state = bench.app.bridge.state
        figures = costs(state, NOW_US)
        assert today_words(state, NOW_US) == ("$1.84+?", "at least $1.84")
        assert (figures.today.cost, figures.today.is_lower_bound) == (184 * NANO // 100, True)


async def test_the_cursor_stays_on_its_session_when_the_lines_change_places() -> None:
    async with running(spending()) as bench:
        await bench.press("4", "j")
        assert chosen(bench) == "docs"
        bench.source.feed(told(48_212, "docs", "codex", total_cost_usd=5.0))
        await bench.settle()
        assert order(bench)[0] == "docs"
        assert chosen(bench) == "docs"
        await bench.press("s", "s", "s")
        assert order(bench) == ["api-fix", "ci", "docs", "web"]
        assert chosen(bench) == "docs"


async def test_s_sorts_by_cost_tokens_context_and_name() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        assert order(bench) == ["api-fix", "docs", "ci", "web"]
        await bench.press("s", "s")
        assert order(bench) == ["ci", "api-fix", "docs", "web"]
        assert "by context" in bench.screen
        await bench.press("s", "s")
        assert order(bench) == ["api-fix", "docs", "ci", "web"]
        assert "by context" not in bench.screen


async def test_w_shows_today_a_week_and_a_month() -> None:
    kept = usage()
    first = kept.sessions[0]
    earlier = msgspec.structs.replace(first.spent[0], day=first.spent[0].day - 3)
    old = msgspec.structs.replace(
        first,
        session="old",
        label="old-job",
        reported=msgspec.structs.replace(first.reported, spent=(earlier,)),
    )
    kept = msgspec.structs.replace(kept, sessions=(*kept.sessions, old))
    async with running(msgspec.structs.replace(spending(), usage=kept)) as bench:
        await bench.press("4")
        assert "old-job" not in bench.screen
        await bench.press("w")
        assert "old-job" in bench.screen
        assert "7 days   estimates" in bench.screen
        await bench.press("w")
        assert "by model, 30 days" in bench.screen
        await bench.press("w")
        assert "old-job" not in bench.screen


async def test_enter_opens_the_session_and_escape_goes_back() -> None:
    async with running(spending()) as bench:
        await bench.press("4", "j", "enter")
        assert "112 k of 272 k, 41 %" in bench.screen
        assert "Fri 20 Nov   gpt-5-codex" in bench.screen
        await bench.press("escape")
        assert "4 sessions" in bench.screen
        assert chosen(bench) == "docs"


async def test_a_session_without_usage_says_so_on_its_page() -> None:
    async with running(spending()) as bench:
        await bench.press("4", "G", "enter")
        assert "Copilot reports no usage: nothing is known of it" in bench.screen


async def test_a_filter_narrows_the_sessions() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        screen(bench).narrow("agent:codex")
        await bench.settle()
        assert order(bench) == ["docs"]
        assert line(bench, "1 session").split()[-1] == "$0.41"
        screen(bench).narrow("session:docs-session -host:lab2")
        await bench.settle()
        assert order(bench) == ["docs"]
        screen(bench).narrow("agent:kiro")
        await bench.settle()
        assert "none passes agent:kiro" in bench.screen
        await bench.press("escape")
        assert len(order(bench)) == 4


async def test_a_copy_takes_the_line_as_text() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        assert screen(bench).copied == (
            "api-fix  claude  claude-sonnet-4-5  in 1.21 M  out 38.4 k  cached 94 %"
            "  $1.12 reported  context 62 %"
        )


async def test_more_sessions_than_rows_scroll_under_the_cursor() -> None:
    async with running(many(60), size=(120, 40)) as bench:
        await bench.press("4")
        assert "job-60" in bench.screen
        assert "job-01" not in bench.screen
        await bench.press("G")
        assert chosen(bench) == "job-01"
        assert ">" in line(bench, "job-01")[:1]
        assert "not shown" in line(bench, "60 sessions")
        await bench.press("pageup")
        assert chosen(bench) != "job-01"
        await bench.press("g")
        assert chosen(bench) == "job-60"


async def test_the_visible_sessions_can_be_jumped_to() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        jumps = screen(bench).jumps()
        assert [bench.screen.splitlines()[jump.y][2:9].strip() for jump in jumps] == [
            "api-fix", "docs", "ci", "web",
        ]  # fmt: skip
        jumps[2].go()
        assert chosen(bench) == "ci"


@pytest.mark.parametrize("snapshot", [quiet(), first_run()])
async def test_without_any_usage_it_says_who_reports_it_and_how(snapshot: Snapshot) -> None:
    async with running(snapshot, size=(80, 24)) as bench:
        await bench.press("4")
        assert "No usage is known yet." in bench.screen
        assert "watchgate install claude" in bench.screen


async def test_when_the_core_is_lost_the_last_figures_stay() -> None:
    async with running(spending()) as bench:
        await bench.press("4")
        bench.source.lose()
        await bench.until(lambda: bench.app.bridge.link.lost)
        await bench.settle()
        assert "$1.12" in line(bench, "api-fix")
        table = screen(bench).table
        off = table.inks.style("off").color
        parts = [part for part in table.render_line(1) if part.text.strip()]
        assert [part.text for part in parts if part.style and part.style.color != off] == [
            part.text for part in parts if set(part.text) == {"─"}
        ]


async def test_names_from_outside_are_drawn_harmless_and_break_no_column() -> None:
    kept = usage()
    first = msgspec.structs.replace(
        kept.sessions[0], session="x", label=HOSTILE + "\u754c" * 20, models=(HOSTILE,)
    )
    kept = msgspec.structs.replace(kept, sessions=(first, *kept.sessions))
    async with running(msgspec.structs.replace(spending(), usage=kept)) as bench:
        await bench.press("4")
        assert "\x1b" not in bench.screen
        assert "\u202e" not in bench.screen
        rows = [each for each in bench.screen.splitlines() if "$1.12" in each]
        assert len(rows) == 2
        await bench.press("k", "enter")
        assert "\u202e" not in bench.screen


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (100, 30), (160, 45), (200, 60), (48, 12)])
async def test_every_size_shows_whole_columns(size: tuple[int, int]) -> None:
    async with running(spending(), size=size) as bench:
        await bench.press("4")
        if size[0] >= 60:
            assert "$1.12" in line(bench, "api-fix")
            assert "62 %" in line(bench, "api-fix")
            assert "$1.84" in line(bench, "4 sessions")
        assert all(len(each) <= size[0] for each in bench.screen.splitlines())


@pytest.mark.parametrize("cells", range(40, 240, 7))
def test_columns_never_overlap(cells: int) -> None:
    at = columns(cells)
    ends = [each for each in (at.read, at.written, at.cached, at.cost) if each]
    assert all(after - before >= 9 for before, after in pairwise(ends))
    assert max(at.percent, at.context + at.fill, *ends) < cells


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "?"), (0, "0"), (812, "812"), (4_900, "4.9 k"), (38_400, "38.4 k"),
        (402_000, "402 k"),
        (99_960, "100 k"), (999_700, "1.00 M"), (1_210_000, "1.21 M"), (12_400_000, "12.4 M"),
        (999_600_000, "1.00 G"), (5_000_000_000_000, "5,000 G"),
    ],
)  # fmt: skip
def test_tokens(number: int | None, text: str) -> None:
    assert tokens(number) == text


def test_percent() -> None:
    assert [percent(each) for each in (None, 0.0, 0.624, 1.0)] == ["?", "0 %", "62 %", "100 %"]


def test_ordinals() -> None:
    assert [ordinal(each)[4:] for each in (1, 2, 3, 4, 11, 12, 13, 21, 22, 30)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "30th",
    ]  # fmt: skip


async def test_midnight_begins_a_new_day() -> None:
    async with running(spending()) as bench:
        later = NOW_US + DAY_US
        figures = costs(bench.app.bridge.state, later)
        assert figures.today.cost == 0
        assert figures.month.cost == 6412 * NANO // 100
        assert today_words(bench.app.bridge.state, later) == ("$0.00+?", "at least $0.00")


def test_an_old_snapshot_without_usage_adds_up_what_sessions_tell() -> None:
    snapshot = busy()
    state = restore(seq=1, core="c", at=NOW_US, gate=snapshot.gate, sessions=snapshot.sessions)
    assert today_words(state, NOW_US) == ("$1.84+?", "at least $1.84")
