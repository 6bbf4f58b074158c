"""The Costs screen with what transcripts tell: whose figures, kinds, turns, sub-agents, limits."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.counted_picture import counted, counting, unpriced
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.records import Record
from watchgate.core.usage.usage_fold import DAY_US, UsageSnapshot
from watchgate.link.protocol import Snapshot
from watchgate.ui.costs.cost_figures import costs
from watchgate.ui.costs.cost_sums import short, whole

API = ("claude", "api-fix-session")


def shown(kept: UsageSnapshot) -> Snapshot:
    """The busy picture with that usage."""
    return msgspec.structs.replace(busy(), usage=kept)


def line(bench: Bench, label: str) -> str:
    """The line of the screen that begins with these words."""
    return next(each for each in bench.screen.splitlines() if each[2:].startswith(label))


async def test_every_figure_says_whether_it_is_reported_or_computed() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        assert "$1.12 r " in line(bench, "api-fix")
        assert "$0.41 c " in line(bench, "docs")
        assert line(bench, "4 sessions").split("$1.84")[1].strip() == "at least, $0.72 computed"
        assert "$1.84 rc" in bench.screen
        assert "$6.02 c" in line(bench, "gpt-5-codex")


async def test_the_marks_are_explained_where_they_stand() -> None:
    for size, words in (
        ((120, 40), "r reported  c computed  +? at least"),
        ((80, 24), "r reported  c computed"),
    ):
        async with running(counting(), size=size) as bench:
            await bench.press("4")
            assert line(bench, "today ").endswith(words)
    async with running(shown(unpriced())) as bench:
        await bench.press("4")
        assert line(bench, "today ").endswith("3 lines of transcripts unreadable")


async def test_a_turn_shows_more_of_its_cost_than_a_session_does() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        assert line(bench, "newest turn").split()[2:4] == ["$0.071", "c"]
        await bench.press("enter")
        assert "$0.071 c" in bench.screen


async def test_the_prices_name_their_date_and_that_they_are_old() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        assert "prices of 2026-11-18   estimates, not your invoice" in bench.screen
    old = msgspec.structs.replace(counted(), prices="prices of 2026-09-01, own")
    async with running(shown(old)) as bench:
        await bench.press("4")
        assert "prices of 2026-09-01, 80 days old" in bench.screen


async def test_where_it_went_is_in_money_where_that_is_computed_and_in_tokens_elsewhere() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        assert line(bench, "cache reads").split()[2:5] == ["$0.52", "1.14", "M"]
        assert "computed by list prices, beside what is reported" in bench.screen
        assert line(bench, "2 sub-agents").split("sub-agents:")[1].split()[:2] == ["$0.23", "c"]
        await bench.press("j")
        assert line(bench, "cache reads").split()[2:4] == ["326", "k"]


async def test_rate_limits_are_those_that_agents_report_and_nothing_else() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        told = line(bench, "claude   ")
        assert "5 h 42 %" in told
        assert "7 d 18 %" in told
        assert "as reported just now" in told
        assert "not told since" in line(bench, "codex  ")
    async with running(shown(msgspec.structs.replace(counted(), limits={}))) as bench:
        await bench.press("4")
        assert "reported just now" not in bench.screen


async def test_a_model_without_a_price_and_unreadable_lines_are_told() -> None:
    async with running(shown(unpriced())) as bench:
        await bench.press("4")
        assert "3 lines of transcripts unreadable" in bench.screen
        assert "$0.41 c+?" in line(bench, "docs")
        assert line(bench, "gpt-6-secret").split()[1] == "?"
        await bench.press("j", "enter")
        assert "without gpt-6-secret: no table has a price" in bench.screen
        assert "3 lines of its transcripts: in no figure here" in bench.screen


async def test_the_page_of_a_session_shows_both_figures_and_adds_them_never() -> None:
    async with running(counting()) as bench:
        await bench.press("4", "enter")
        assert line(bench, "cost").split() == ["cost", "$1.12", "reported", "by", "Claude"]
        assert "computed beside it, not added: prices of 2026-11-18" in bench.screen
        assert "$2.24" not in bench.screen
        assert "in the sum" in line(bench, "Fri 20 Nov   claude-haiku")
        for words in ("newest turns", "13 calls", "sub-agents, part of these figures", "all 2"):
            assert words in bench.screen


async def test_a_wide_terminal_shows_words_and_the_last_hour_of_every_session() -> None:
    async with running(counting(), size=(160, 45)) as bench:
        await bench.press("4")
        assert "$1.12 reported" in line(bench, "api-fix")
        assert "last hour" in line(bench, "session ")
        assert "█" in line(bench, "docs")
        await bench.press("w")
        assert "14 days" in line(bench, "session ")


async def test_a_counted_record_takes_the_place_of_the_one_before() -> None:
    async with running(counting()) as bench:
        await bench.press("4")
        data = {"source": "computed", "rows": [
            {"day": 20_777, "model": "gpt-5-codex", "calls": 1, "computed": 500_000_000},
        ]}  # fmt: skip
        bench.source.feed(
            Record(
                v=1,
                seq=48_212,
                core="core",
                at=NOW_US,
                kind="usage.counted",
                agent="codex",
                session="docs-session",
                data=data,
            )
        )
        await bench.settle()
        assert "$0.50 c" in line(bench, "docs")
        assert "$1.93" in line(bench, "4 sessions")


async def test_a_call_says_what_the_model_call_that_asked_for_it_used() -> None:
    async with running(counting(), size=(160, 60)) as bench:
        await bench.press("1", "g", *("j",) * 7, "enter")
        while "call-7" not in bench.screen:
            await bench.press("escape", "j", "enter")
        asked = "a model call of $0.012 (computed), 14.0 k tokens, shared by 2 calls"
        assert asked in bench.screen


async def test_the_monitor_shows_the_same_figure_and_the_sessions_page_whose_it_is() -> None:
    async with running(counting()) as bench:
        assert "$0.41" in bench.screen
        state = bench.app.bridge.state
        docs, api = (state.sessions[key] for key in (("codex", "docs-session"), API))
        assert short(state.usage, docs) == "$0.41"
        assert whole(state.usage, docs) == "$0.41 computed"
        assert whole(state.usage, api) == "$1.12 reported; $1.12 computed, not added"


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30), (120, 40), (160, 45), (200, 60)])
async def test_every_size_shows_the_figures_and_their_marks(size: tuple[int, int]) -> None:
    async with running(shown(unpriced()), size=size) as bench:
        for keys in (("4",), ("enter",), ("escape", "w")):
            await bench.press(*keys)
            assert all(len(each) <= size[0] for each in bench.screen.splitlines())
        assert "$0.41 c" in line(bench, "docs")
        assert "5 h 42 %" in bench.screen


async def test_days_are_those_of_the_core() -> None:
    kept = msgspec.structs.replace(counted(), utc_offset_s=-13 * 3600)
    async with running(shown(kept)) as bench:
        figures = costs(bench.app.bridge.state, NOW_US)
        assert figures.days[-1].day == NOW_US // DAY_US - 1
