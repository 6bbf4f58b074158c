"""The explorer finds each broker or engine with a fault, and says the shortest way to it."""

from __future__ import annotations

import pytest

from tests.core.gate.exploration import flaws
from tests.core.gate.exploration.explorer import Broken, Explorer
from tests.core.gate.exploration.scopes import Scope
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.engine import Engine

SMALL = Scope(conns=(1, 2, 3), ran=(), without=frozenset({"fails", "a console leaves", "handback"}))

FLAWS: list[tuple[type[Broker], int, str]] = [
    (flaws.AllowsLate, 2, "it is taken, where too_late was due"),
    (flaws.SettlesTwice, 2, "it is taken, where already_settled was due"),
    (flaws.IgnoresDigest, 1, "with a wrong digest, and it is taken"),
    (flaws.ForgetsWaiter, 1, "[1, 2] wait, [2] are waited for"),
    (flaws.KeepsWaiter, 2, "[2] wait, [1, 2] are waited for"),
    (flaws.NeverExpires, 3, "past their deadline and still open: ['r1']"),
    (flaws.TellsBeforeTheDisk, 1, "r1 is allowed though it was pending"),
    (flaws.RevivesSettled, 6, "r1 was settled and became withdrawn"),
    (flaws.LosesTheOtherOne, 2, "r3 was forgotten"),
    (flaws.OutlastsAClient, 1, "r1 outlasts a client that waits"),
]
WATCHED = Scope(conns=(1, 2), ran=(), without=frozenset({"fails", "handback"}))
ENGINES: list[tuple[type[Engine], int, str]] = [
    (flaws.TellsAtOnce, 1, "r1 is allowed though it was pending"),
    (flaws.AnswersOne, 3, "[2] wait, [] are waited for"),
    (flaws.LetsWhoJoinedGo, 2, "connection 2 is told SayNothing"),
    (flaws.LosesOneWithTheConsole, 2, "r1 was forgotten"),
]


@pytest.mark.parametrize(("broker", "steps", "fault"), FLAWS)
def test_a_flaw_is_found_by_the_shortest_way(broker: type[Broker], steps: int, fault: str) -> None:
    with pytest.raises(Broken) as broken:
        Explorer(SMALL, broker).run()
    is_the_shortest(str(broken.value), steps, fault)


@pytest.mark.parametrize(("engine", "steps", "fault"), ENGINES)
def test_a_flaw_of_the_engine_is_found_too(engine: type[Engine], steps: int, fault: str) -> None:
    with pytest.raises(Broken) as broken:
        Explorer(WATCHED, engine=engine).run()
    is_the_shortest(str(broken.value), steps, fault)


def is_the_shortest(told: str, steps: int, fault: str) -> None:
    assert fault in told
    assert f"\n  {steps}. " in told
    assert f"\n  {steps + 1}. " not in told


def test_the_way_to_a_fault_reads_as_what_happened() -> None:
    with pytest.raises(Broken) as broken:
        Explorer(SMALL, flaws.NeverExpires).run()
    assert str(broken.value).splitlines() == [
        "after",
        "  1. connection 1 asks",
        "  2. allow r1",
        "  3. time passes",
        "expire: past their deadline and still open: ['r1']",
    ]
