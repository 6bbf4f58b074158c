"""A core says how its budgets stand when that changes, and never twice the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from tests.service.desk import Desk
from watchgate.core.config.config_sections import CostsConfig
from watchgate.core.model.records import BudgetData, Draft, Record
from watchgate.core.model.usage_records import CountedData, CountedRow
from watchgate.core.state.state import State
from watchgate.service.usage.budget_watch import BudgetWatch

NANO = 1_000_000_000
DAY_S = 86_400
CONFIG = CostsConfig(budget_day_usd=20, budget_session_usd=5, over_budget="ask")


class Spender:
    """A core with budgets, whose sessions spend what a test says."""

    def __init__(self, config: CostsConfig = CONFIG, state: State | None = None) -> None:
        self.desk = Desk()
        if state is not None:
            self.desk.hub.recorder.state = state
            state.seq = 0  # the records of this core are numbered anew here
        self.watch = BudgetWatch(self.desk.hub, self.desk.clock, config)
        self.desk.hub.recorder.watchers.add(self.watch)

    @property
    def state(self) -> State:
        return self.desk.hub.recorder.state

    @property
    def today(self) -> int:
        return self.state.usage.day_of(self.desk.clock.now().wall_us)

    def spend(self, session: str, usd: float, **more: Any) -> None:
        """All that the session's files say it cost, on this day."""
        row = CountedRow(day=self.today, model="m", calls=1, computed=round(usd * NANO), **more)
        self.count(session, CountedData(rows=(row,), source="computed"))

    def count(self, session: str, data: CountedData) -> None:
        at = self.desk.clock.now().wall_us
        draft = Draft(kind="usage.counted", at=at, agent="claude", session=session, data=data)
        self.desk.hub.recorder.record(draft)

    def look(self, **more: Any) -> list[tuple[str | None, str]]:
        """Whose budget reached which level by this look."""
        before = len(self.told)
        self.watch.look(**more)
        return [(each.session, each.data["level"]) for each in self.told[before:]]

    @property
    def told(self) -> list[Record]:
        return [each for each in self.desk.console.records if each.kind == "policy.budget"]


def test_levels_of_the_day_and_of_each_session() -> None:
    core = Spender()
    core.spend("s1", 4)
    assert core.look() == [("s1", "warned")]
    core.spend("s2", 11.9)
    assert core.look() == [("s2", "used-up")]
    core.spend("s1", 4.5)
    assert core.look() == [(None, "warned")]
    core.spend("s1", 8.1)
    assert core.look() == [(None, "used-up"), ("s1", "used-up")]
    assert core.look() == []
    last = core.told[-2]
    assert (last.agent, last.session) == (None, None)
    assert last.data == {
        "scope": "day",
        "level": "used-up",
        "spent_usd": 20.0,
        "limit_usd": 20.0,
        "day": core.today,
        "asks": True,
    }


def test_the_state_knows_what_was_said() -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    assert set(core.state.budgets) == {"day", "claude s1"}
    assert core.state.budgets["day"].level == "used-up"
    assert ("claude", "s1") not in core.state.sessions


def test_at_local_midnight_the_day_is_free_and_a_session_is_not() -> None:
    core = Spender()
    core.state.usage.set_utc_offset(-5 * 3_600)
    core.spend("s1", 25)
    core.look()
    today = core.today
    while core.today == today:
        assert core.look() == []
        core.desk.clock.advance(600)
    assert core.look() == [(None, "free")]
    assert core.look(everything=True) == []
    assert core.state.budgets["claude s1"].level == "used-up"


def test_a_core_that_starts_again_does_not_repeat_it() -> None:
    core = Spender()
    core.spend("s1", 25)
    assert len(core.look()) == 2
    assert Spender(state=core.state).look(everything=True) == []


def test_a_core_that_starts_on_another_day_says_that_it_is_free() -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    later = Spender(state=core.state)
    later.desk.clock.advance(DAY_S)
    assert later.look(everything=True) == [(None, "free")]


def test_figures_that_vanish_may_set_calls_free() -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    core.spend("s1", 1)
    assert core.look() == [(None, "free"), ("s1", "free")]
    assert set(core.state.budgets) == {"day"}


@pytest.mark.parametrize(
    "unknown",
    [
        {"rows": ()},
        {"rows": (CountedRow(day=0, model="m", calls=1, input=5, unpriced=1),)},
        {"rows": (CountedRow(day=0, model="m", calls=1, computed=1, is_lower_bound=True),)},
    ],
)
def test_a_cost_that_is_not_known_any_more_sets_nothing_free(unknown: dict[str, Any]) -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    core.count("s1", CountedData(source="computed", **unknown))
    assert ("s1", "free") not in core.look()


def test_until_the_past_is_known_nothing_is_set_free() -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    core.desk.hub.recorder.remembering = True
    core.spend("s1", 0)
    assert core.look(everything=True) == []
    core.desk.hub.recorder.remembering = False
    assert core.look(everything=True) == [(None, "free"), ("s1", "free")]


def test_budgets_that_were_taken_out_of_the_configuration_are_free() -> None:
    core = Spender()
    core.spend("s1", 25)
    core.look()
    later = Spender(CostsConfig(), core.state)
    assert later.look(everything=True) == [(None, "free"), ("s1", "free")]
    assert later.look(everything=True) == []


@pytest.mark.parametrize(
    ("told", "shown", "without_files"),
    [
        (0.0, "computed", [(None, "free"), ("s1", "free")]),
        (17.0, "reported", [(None, "warned")]),
    ],
)
def test_a_cost_below_that_of_the_files_sets_nothing_free_whoever_tells_it(
    told: float, shown: str, without_files: list[tuple[str | None, str]]
) -> None:
    core = Spender()
    core.spend("s1", 25)
    assert core.look() == [(None, "used-up"), ("s1", "used-up")]
    at = core.desk.clock.now().wall_us
    for kind, data in (("session.start", {}), ("usage", {"total_cost_usd": told})):
        draft = Draft(kind=kind, at=at, agent="claude", session="s1", data=data)
        core.desk.hub.recorder.record(draft)
    assert core.state.usage.sessions["claude", "s1"].source == shown
    assert core.look(everything=True) == []
    core.spend("s1", 0)
    assert core.look() == without_files


def test_without_a_budget_nothing_watches() -> None:
    desk = Desk()
    watch = BudgetWatch.of(desk.hub, desk.clock, CostsConfig())
    assert watch is None
    desk.hub.recorder.state.budgets["day"] = BudgetData(
        scope="day", level="warned", spent_usd=1, limit_usd=1
    )
    assert BudgetWatch.of(desk.hub, desk.clock, CostsConfig()) is not None


async def until(happened: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not happened():
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_it_looks_at_the_start_and_whenever_usage_is_told() -> None:
    core = Spender()
    core.spend("s1", 25)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(core.watch.run)
        await until(lambda: len(core.told) == 2)
        core.spend("s2", 5)
        await until(lambda: len(core.told) == 3)
        tasks.cancel_scope.cancel()
