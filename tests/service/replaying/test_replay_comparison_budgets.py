"""A replay asks where a budget asked, and nowhere else."""

from __future__ import annotations

import msgspec

from tests.core.builders import pre, shell
from tests.service.replaying.recorded import RecordedWorld, RulesAgain
from watchgate.core.gate.effects import Emit
from watchgate.core.model.assessment import Assessment, Finding
from watchgate.core.model.events import Event
from watchgate.core.model.records import BudgetData, Draft
from watchgate.core.usage.budget import RULE as OVER_BUDGET
from watchgate.core.usage.budget import apply_budget

USED_UP = BudgetData(scope="day", level="used-up", spent_usd=20.4, limit_usd=20, day=1, asks=True)


def budget_told(world: RecordedWorld, data: BudgetData) -> None:
    apply_budget(world.gate.budgets, data, ("", ""))
    world.do([Emit(Draft(kind="policy.budget", at=world.now.wall_us, data=data))])


def over_budget() -> RecordedWorld:
    """A call before, one over and one after a budget that was used up; one was allowed."""
    world = RecordedWorld()
    world.send(pre(shell("low a", "c1"), runs_unasked=True), 1)
    budget_told(world, USED_UP)
    world.allow(world.ask(pre(shell("low b", "c2"), runs_unasked=True), 2))
    world.send(pre(shell("deny c", "c3"), runs_unasked=True), 3)
    budget_told(world, msgspec.structs.replace(USED_UP, level="free", asks=False, day=2))
    world.send(pre(shell("low d", "c4"), runs_unasked=True), 4)
    assert [r.data["gate"] for r in world.all("tool.pre")] == [
        "handback", "held", "denied", "handback",
    ]  # fmt: skip
    return world


def test_a_budget_asks_as_it_did() -> None:
    again = over_budget().again()
    assert (again.differences, again.decided, again.left_out) == ((), 4, {})


def test_a_budget_that_was_told_by_a_core_before_asks_on() -> None:
    records = over_budget().kept()
    told = next(at for at, each in enumerate(records) if each.kind == "policy.budget")
    lives = [
        msgspec.structs.replace(each, core="before" if at <= told else "after")
        for at, each in enumerate(records)
    ]
    again = RecordedWorld().again(lives)
    assert (again.differences, again.decided) == ((), 4)


def test_a_budget_that_was_told_before_the_recording_is_known_by_what_it_asked() -> None:
    records = over_budget().kept()
    told = next(at for at, each in enumerate(records) if each.kind == "policy.budget")
    again = RecordedWorld().again(records[told + 1 :])
    assert (again.differences, again.decided) == ((), 3)


def test_without_the_record_a_call_would_have_been_decided_otherwise() -> None:
    """What the records of budgets are for: rules that allow more now still meet the budget."""
    world = RecordedWorld()
    budget_told(world, USED_UP)
    world.ask(pre(shell("high b", "c2"), runs_unasked=True), 2)
    (found,) = world.again(rules=Laxer).differences
    assert (found.recorded["gate"], found.again["gate"]) == ("held", "held")
    assert found.again["rule"] == OVER_BUDGET


class Laxer(RulesAgain):
    """The same rules, but nothing is grave."""

    def assess(self, event: Event) -> Assessment | None:
        finding = Finding("test.lax", "all is fine", "low", None)
        return self.budgeted(event, Assessment("ask", "low", (finding,)))
