"""Handlers as the hub sees them: asked through the desk, heard, halted, and never in the way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.desk import Desk
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Block, Confirm, Defer, Report
from watchgate.service.system.process_table import Proc

GUARD = Handler(id="guard", on=frozenset({"tool.pre"}))
LOG = Handler(id="log", on=frozenset({"tool.pre"}), role="observer")
AGENT = Proc(pid=900, start="5", comm="agent")


def says(desk: Desk, verdict: Any, number: int = 0) -> None:
    dispatch_id, invoke = desk.runs.asked[number]
    desk.hub.on_report(dispatch_id, invoke.handler.id, Report(verdict=verdict))


def test_a_handler_is_run_and_its_word_answers_the_client() -> None:
    desk = Desk(handlers=[GUARD])
    conn = desk.send("low")
    assert conn.answer is None
    says(desk, Block("not today"))
    assert conn.answer is not None
    assert b"not today" in conn.answer.stderr


def test_core_9_a_client_that_hangs_up_halts_the_handler() -> None:
    desk = Desk(handlers=[GUARD])
    conn = desk.send("low")
    desk.hub.hung_up(conn)
    assert desk.runs.halted == [(desk.runs.asked[0][0], frozenset({"guard"}))]


def test_the_agent_whose_call_a_handler_asks_about_may_not_allow_it() -> None:
    desk = Desk(handlers=[GUARD])
    desk.agents[7] = AGENT
    conn = desk.send("low")
    says(desk, Confirm("sure?"))
    request = desk.hub.engine.broker.of_conn(conn.number)
    assert request is not None
    assert desk.hub.askers.agents_of(request) == {AGENT}


def test_a_fault_of_ours_over_what_a_handler_said_denies_whoever_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(handlers=[GUARD])
    conn = desk.send("low")

    def failing(*_: Any) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr(desk.hub.engine, "on_report", failing)
    says(desk, Defer())
    assert conn.answer is not None
    assert conn.answer.exit_code == 2
    assert b"internal error (KeyError" in conn.answer.stderr
    assert desk.last("notice")["native"] == "internal.error"


def test_a_fault_of_ours_over_an_observer_is_on_record_and_answers_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(handlers=[LOG])
    conn = desk.send("low")
    answer = conn.answer
    assert answer is not None, "an observer keeps nobody waiting"

    def failing(*_: Any) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr(desk.hub.engine, "on_report", failing)
    says(desk, Defer())
    assert conn.answer is answer
    assert desk.last("notice")["native"] == "internal.error"


def test_a_handler_is_also_asked_about_what_is_only_observed() -> None:
    desk = Desk(handlers=[GUARD])
    desk.send("low", Lane.OBSERVE)
    assert [invoke.handler.id for _, invoke in desk.runs.asked] == ["guard"]
