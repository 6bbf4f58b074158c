"""Budgets in the console: what the strip, a chip, a notice and the Costs screen say of them."""

from __future__ import annotations

import msgspec
import pytest

from tests.ui.console_bench import running
from tests.ui.counted_picture import counting, used_up
from tests.ui.picture import NOW_US
from watchgate.core.model.records import BudgetData
from watchgate.core.state.state import State
from watchgate.core.usage.budget import DAY, budget_key
from watchgate.link.protocol import Snapshot
from watchgate.link.snapshots import restored
from watchgate.ui.costs.budget_words import chip, standing, today
from watchgate.ui.costs.cost_sums import today_words
from watchgate.ui.fleet.host_names import HostNames
from watchgate.ui.notifications.notices import Notices
from watchgate.ui.source.core_bridge import Link

SESSION = budget_key("claude", "api-fix-session")


def over(*, asks: bool = True, level: str = "used-up", day: int | None = None) -> BudgetData:
    """The day's budget at some level."""
    changes = {"asks": asks, "level": level} | ({} if day is None else {"day": day})
    return msgspec.structs.replace(used_up(), **changes)


def of_session() -> BudgetData:
    """The used-up budget of one session."""
    return BudgetData(scope="session", level="used-up", spent_usd=1.12, limit_usd=1.0)


def snapshot(**budgets: BudgetData) -> Snapshot:
    """The picture with these budgets, by `day` or `session`."""
    keys = {"day": DAY, "session": SESSION}
    told = {keys[name]: each for name, each in budgets.items()}
    return msgspec.structs.replace(counting(), budgets=told)


def state(**budgets: BudgetData) -> State:
    """The state of it."""
    return restored(snapshot(**budgets))


def test_a_chip_says_what_a_used_up_budget_means_for_calls() -> None:
    assert chip(state(day=over()), NOW_US) == (
        "today's budget used up, allowed calls are asked",
        "budget used up",
    )
    assert chip(state(day=over(asks=False)), NOW_US)[0] == "today's budget used up, calls go on"
    assert chip(state(session=of_session()), NOW_US)[0].startswith("api-fix's budget used up")
    assert chip(state(day=over(level="warned")), NOW_US) == ("", "")


def test_a_budget_of_another_day_or_of_a_session_that_is_gone_is_not_told() -> None:
    assert not list(standing(state(day=over(day=1)), NOW_US))
    gone = msgspec.structs.replace(snapshot(session=of_session()), sessions=())
    assert not list(standing(restored(gone), NOW_US))


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("used-up", ("$1.84+? over budget", "at least $1.84, over the budget of $1.50")),
        ("warned", ("$1.84+? of $1.50", "at least $1.84 of $1.50")),
    ],
)
def test_the_strip_stays_one_figure(level: str, words: tuple[str, str]) -> None:
    seen = state(day=over(level=level))
    assert today_words(seen, NOW_US, today(seen, NOW_US)) == words


async def test_an_over_budget_outranks_other_counts_in_the_strip() -> None:
    async with running(snapshot(day=over())) as bench:
        await bench.press("4")
        first, second, *_ = bench.screen.splitlines()
        assert "over the budget of $1.50" in first
        assert "today's budget used up, allowed calls are asked" in second
        assert "today's budget used up: $1.84 of $1.50" in bench.screen


async def test_a_budget_that_is_nearly_used_up_outranks_the_rate_of_calls() -> None:
    async with running(snapshot(day=over(level="warned"))) as bench:
        assert "at least $1.84 of $1.50" in bench.screen.splitlines()[0]


def test_a_notice_is_given_once_and_says_what_it_means() -> None:
    notices, link = Notices(), Link(state="attached")
    assert not notices.look(state(), link, NOW_US)[1:]
    (warned,) = notices.look(state(day=over(level="warned")), link, NOW_US)
    assert (warned.kind, warned.rings) == ("budget", False)
    (told,) = notices.look(state(day=over()), link, NOW_US)
    assert told.text == (
        "today's budget is used up: $1.84 of $1.50; calls that the policy would allow are asked now"
    )
    assert told.rings
    assert not notices.look(state(day=over()), link, NOW_US)


def test_what_a_console_begins_with_is_told_by_the_picture_alone() -> None:
    kinds = [n.kind for n in Notices().look(state(day=over()), Link(state="attached"), NOW_US)]
    assert "budget" not in kinds


def test_of_several_machines_a_sessions_budget_is_named_by_its_own() -> None:
    told = HostNames("lab2").snapshot(snapshot(day=over(), session=of_session()))
    assert set(told.budgets) == {
        DAY,
        budget_key("claude", HostNames("lab2").named("api-fix-session")),
    }
