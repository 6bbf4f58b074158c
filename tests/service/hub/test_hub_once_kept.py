"""A call of an agent that nobody knew is taken up once a core that starts again would know it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.service.desk import Desk
from watchgate.service.system.process_table import Proc

AGENT = Proc(40, "400", "claude", ("claude",))


class Disk:
    """Where agents are kept, when a test says so."""

    def __init__(self, desk: Desk) -> None:
        self._pending: list[Callable[[], None]] = []
        desk.hub.once_saved = self._once_kept
        desk.agents[7] = AGENT

    def _once_kept(self, agent: Proc, then: Callable[[], None]) -> None:
        assert agent == AGENT
        self._pending.append(then)

    def written(self) -> None:
        """It has them now."""
        pending, self._pending = self._pending, []
        for then in pending:
            then()


@pytest.mark.parametrize(("command", "answered"), [("high", False), ("low", True)])
def test_before_that_it_is_neither_answered_nor_held(command: str, answered: bool) -> None:
    desk = Desk()
    disk = Disk(desk)
    conn = desk.send(command)
    desk.paper.written()
    assert conn.answer is None
    assert desk.kinds() == []
    disk.written()
    desk.paper.written()
    assert (conn.answer is not None) == answered
    assert ("approval.requested" in desk.kinds()) != answered


def test_its_deadline_counts_from_when_it_came() -> None:
    desk = Desk()
    disk = Disk(desk)
    conn = desk.send("high", deadline_s=60.0)
    desk.clock.advance(50)
    disk.written()
    assert conn.answer is None
    desk.clock.advance(11)
    desk.hub.expire_due()
    assert conn.answer is not None


@pytest.mark.parametrize("command", ["high", "low"])
def test_one_that_hung_up_meanwhile_is_on_record_and_waits_for_nobody(command: str) -> None:
    desk = Desk()
    disk = Disk(desk)
    conn = desk.send(command)
    desk.hub.hung_up(conn)
    assert desk.kinds() == []
    disk.written()
    desk.paper.written()
    assert desk.kinds()[0] == "tool.pre"
    assert not desk.hub.engine.broker.open
    assert not desk.hub.unanswered


def test_one_that_was_answered_closed_meanwhile_is_not_taken_up() -> None:
    desk = Desk()
    disk = Disk(desk)
    conn = desk.send("high")
    desk.hub.failed("ValueError", conn, conn.head)
    answer = conn.answer
    disk.written()
    assert conn.answer is answer is not None
    assert not desk.hub.engine.broker.open


def test_a_fault_of_ours_closes_that_call_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    disk = Disk(desk)
    first, second = desk.send("high"), desk.send("high", call="c2")
    receive = desk.hub.engine.receive

    def fails_once(*args: object) -> object:
        monkeypatch.setattr(desk.hub.engine, "receive", receive)
        raise KeyError("x")

    monkeypatch.setattr(desk.hub.engine, "receive", fails_once)
    disk.written()
    assert first.answer is not None
    assert first.answer.exit_code == 2
    assert second.answer is None
    assert len(desk.hub.engine.broker.open) == 1
