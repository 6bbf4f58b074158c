"""The words of the Costs screen: whose figures, how old prices and reports are, where lines go."""

from __future__ import annotations

from datetime import UTC, date

import pytest

from tests.ui.counted_picture import counted
from tests.ui.picture import NOW_US
from watchgate.core.model.usage_records import Limit, Minute, Part, Source
from watchgate.core.usage.session_usage import Spent
from watchgate.core.usage.usage_by_time import MINUTE_US
from watchgate.core.usage.usage_fold import UsageFold
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.costs.call_usage import asked_by
from watchgate.ui.costs.cost_figures import dated, days_old
from watchgate.ui.costs.cost_sums import Sum, mark, of_both, sum_of, written
from watchgate.ui.costs.limit_words import report_age, window
from watchgate.ui.costs.sparks import of_hour, of_turns, spark
from watchgate.ui.screens.costs_screen import Wanted, layout

HOUR_US = 60 * MINUTE_US
MINUTE = NOW_US // MINUTE_US
API = ("claude", "api-fix-session")


def spent(
    cost: int | None, source: Source, *, least: bool = False, model: str = "m"
) -> Spent:  # fmt: skip
    """A part of a day."""
    return Spent(day=1, agent="claude", model=model, cost=cost, source=source, is_lower_bound=least)


def test_a_mark_says_whose_a_figure_is_and_that_it_is_a_lower_bound() -> None:
    assert [mark("reported"), mark("computed"), mark("unknown")] == ["r", "c", ""]
    assert [mark("computed", is_lower_bound=True), mark("unknown", is_lower_bound=True)] == [
        "c+?",
        "+?",
    ]
    assert mark("computed", is_lower_bound=True, word=True) == "computed +?"
    assert of_both(reported=True, computed=True) == "rc"


def test_a_sum_knows_how_much_of_it_is_computed() -> None:
    assert sum_of([spent(5, "reported"), spent(3, "computed")]) == Sum(
        8, is_lower_bound=False, computed=3, mark="rc"
    )


def test_a_sum_over_anything_unknown_is_a_lower_bound() -> None:
    assert sum_of([spent(5, "computed"), spent(None, "unknown")]).is_lower_bound
    assert sum_of([spent(5, "computed", least=True)]).is_lower_bound
    assert sum_of([spent(None, "unknown")]) == Sum(None, is_lower_bound=True)
    assert sum_of([]) == Sum(None)


def test_a_model_within_a_cost_that_was_told_in_one_is_neither_free_nor_unknown() -> None:
    assert not sum_of([spent(5, "reported"), spent(None, "reported")]).is_lower_bound
    assert written(sum_of([spent(None, "reported")])) == "in the sum"
    assert written(sum_of([spent(None, "unknown")])) == "?"


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("prices of 2026-11-18, genai-prices 0.2.3", date(2026, 11, 18)),
        ("prices of 2026-13-45", None),
        ("genai-prices 0.2.3", None),
        ("", None),
    ],
)
def test_the_date_of_the_prices_is_read_from_their_words(words: str, day: date | None) -> None:
    assert dated(words) == day


def test_prices_are_old_after_forty_five_days() -> None:
    assert days_old("prices of 2026-10-06", date(2026, 11, 20)) is None
    assert days_old("prices of 2026-10-05", date(2026, 11, 20)) == 46
    assert days_old("own prices", date(2026, 11, 20)) is None


def limit(name: str, *, resets_at: int, window_min: int = 0, used: float = 42.0) -> Limit:
    """A window as an agent tells of it."""
    return Limit(name=name, used_percent=used, window_min=window_min, resets_at=resets_at)


def test_a_window_says_how_much_is_used_and_when_it_begins_anew() -> None:
    found = window(limit("5 h", resets_at=NOW_US + 136 * MINUTE_US), NOW_US, UTC)
    assert (found.name, found.used, found.words) == ("5 h", 0.42, "resets 14:20")
    later = window(limit("7 d", resets_at=NOW_US + 96 * HOUR_US), NOW_US, UTC)
    assert later.words == "resets Tue 12:04"
    far = window(limit("30 d", resets_at=NOW_US + 300 * HOUR_US), NOW_US, UTC)
    assert far.words == "resets 03 Dec"


def test_a_window_that_began_anew_since_it_was_told_of_is_not_guessed() -> None:
    found = window(limit("5 h", resets_at=NOW_US - 4 * MINUTE_US), NOW_US, UTC)
    assert (found.used, found.words) == (None, "reset at 12:00, not told since")


def test_a_window_without_a_moment_says_none() -> None:
    assert window(limit("5 h", resets_at=0), NOW_US, UTC).words == ""
    assert window(limit("5 h", resets_at=2**60), NOW_US, UTC).words == "resets ?"


@pytest.mark.parametrize(
    ("name", "minutes", "shown"),
    [
        ("primary", 300, "5 h"),
        ("secondary", 10_080, "7 d"),
        ("five_hour", 0, "5 h"),
        ("weekly, opus", 10_080, "weekly, opus"),
        ("", 0, "limit"),
        ("a\x1b[31mb", 0, "a<U+001B>[31mb"),
    ],
)
def test_windows_are_named_by_their_length_where_their_name_tells_nothing(
    name: str, minutes: int, shown: str
) -> None:
    assert window(limit(name, resets_at=0, window_min=minutes), NOW_US, UTC).name == shown


def test_a_report_says_how_old_it_is() -> None:
    assert report_age(NOW_US, NOW_US) == "as reported just now"
    assert report_age(NOW_US - 3 * MINUTE_US, NOW_US) == "as reported 3 min ago"


def test_a_sparkline_shows_whatever_is_above_nothing() -> None:
    assert spark((0, 1, 50, 100)) == "▁▂▅█"
    assert spark((0, 0)) == "▁▁"
    assert spark(()) == ""


def test_the_last_hour_of_a_session_is_in_bins_of_five_minutes() -> None:
    minutes = [Minute(at=MINUTE - ago, cost=cost) for ago, cost in ((59, 3), (0, 5), (4, 2))]
    assert of_hour(minutes, NOW_US) == (3, *(0,) * 10, 7)
    assert of_hour([Minute(at=MINUTE - 60, cost=3)], NOW_US) == ()
    assert of_hour([Minute(at=MINUTE, tokens=9)], NOW_US) == ()


def test_turns_are_drawn_by_money_or_where_none_is_known_by_tokens() -> None:
    turns = [Part(id="a", at=1, tokens=9, cost=1), Part(id="b", at=2, tokens=4)]
    assert of_turns(turns, 5) == (1, 0)
    assert of_turns(turns[1:], 5) == (4,)
    assert of_turns(turns, 0) == ()


def test_a_tool_call_tells_which_model_call_asked_for_it() -> None:
    usage = UsageFold(counted())
    assert asked_by(usage, *API, "call-7") == (
        "a model call of $0.012 (computed), 14.0 k tokens, shared by 2 calls"
    )
    assert asked_by(usage, *API, "call-8") == ""
    assert asked_by(usage, *API, None) == ""


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("limits", [0, 1, 5])
def test_the_parts_take_no_more_lines_than_there_are(columns: int, limits: int) -> None:
    for rows in range(16, 61):
        shape = TerminalShape(columns, rows)
        given = layout(shape, Wanted(limits=limits, table=6, models=7, agents=5))
        around = 3 + (0 if not shape.tabs else 2 if shape.tall else 1)
        assert given.totals + given.limits + given.table + given.lower <= rows - around, rows
        assert given.table >= min(6, rows - around - given.totals - given.limits), rows
        assert given.days + given.agents <= max(given.lower, given.days), rows
