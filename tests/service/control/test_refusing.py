"""What is refused to no proven person is recorded, and an alarm where no person can be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.service.control.counter import AGENT, TERMINAL, Counter
from watchgate.core.presence.attempts import AttemptData, sentence
from watchgate.core.secrets.redact import journal_json
from watchgate.service.control.caller import Caller
from watchgate.service.system.process_table import Proc

TMUX = Proc(12, "120", "tmux: server", sid=12)
SHELL = Proc(25, "250", "bash", sid=25, tty=25)


def below(counter: Counter) -> Caller:
    """A command of the agent's."""
    return counter.caller(Proc(60, "600", "watchgate"), Proc(55, "550", "sh"), AGENT, TERMINAL)


def locked(counter: Counter, pid: int = 90, *, console: bool = False) -> Caller:
    """A command, or a console, in a pane of a multiplexer."""
    caller = counter.caller(Proc(pid, str(pid * 10), "watchgate", sid=25, tty=25), SHELL, TMUX)
    caller.console = console
    return caller


def told(counter: Counter) -> list[AttemptData]:
    """What was recorded, in order."""
    records = (each for each in counter.desk.console.records if each.kind == "policy.refused")
    return [msgspec.convert(each.data, AttemptData) for each in records]


def alarms(counter: Counter) -> list[str]:
    """What the screens show."""
    return [each.what for each in counter.desk.hub.recorder.state.gate.tampered]


async def allow(counter: Counter, caller: Caller, request: dict[str, Any], **more: Any) -> str:
    """The code of a refused allow."""
    facts = {"digest": request["digest"], "confirmed": True, "shown_ms": 1_000, **more}
    id = request["id"]
    return (await counter.refused("decide", caller, request=id, decision="allow", **facts)).refused


async def test_an_attempt_below_the_agent_is_an_alarm_that_names_all_of_it(
    counter: Counter,
) -> None:
    request = await counter.held()
    assert await allow(counter, below(counter), request) == "self_approval"
    (data,) = told(counter)
    assert (data.verb, data.decision, data.refused) == ("decide", "allow", "self_approval")
    assert (data.standing, data.alarm, data.tool) == ("below", "NO PERSON", "Bash")
    assert data.actor is not None
    assert [each.pid for each in data.actor.chain] == [60, 55, 40, 10]
    record = next(e for e in counter.desk.console.records if e.kind == "policy.refused")
    assert (record.request, record.agent, record.session) == (request["id"], "claude", "one")
    (shown,) = alarms(counter)
    assert shown == (
        "watchgate (pid 50), started below sh, claude and bash, tried to allow a call (high): "
        "refused, as it runs below an agent"
    )


async def test_it_stays_until_a_proven_person_switches_on(counter: Counter) -> None:
    counter.desk.paper.at_once = True
    await counter.held()
    await counter.refused("off", below(counter), seconds=60)
    await counter.ok("on", below(counter))
    assert len(alarms(counter)) == 1
    await counter.ok("on")
    assert alarms(counter) == []
    await counter.refused("off", below(counter), seconds=60)
    assert len(alarms(counter)) == 1, "the same again"


async def test_a_locked_terminal_raises_an_alarm_at_the_third_refusal(counter: Counter) -> None:
    await counter.held()
    for pid in (90, 91):
        await counter.refused("off", locked(counter, pid), seconds=60)
        assert alarms(counter) == []
    await counter.refused("stop", locked(counter, 92))
    assert [each.standing for each in told(counter)] == ["locked", "locked"]
    assert len(alarms(counter)) == 1


async def test_a_locked_console_raises_none(counter: Counter) -> None:
    request = await counter.held()
    for _ in range(12):
        assert await allow(counter, locked(counter, console=True), request) == "locked"
    assert [each.count for each in told(counter)] == [1, 3, 10]
    assert alarms(counter) == []


async def test_what_a_proven_person_is_refused_is_no_attempt(counter: Counter) -> None:
    request = await counter.held()
    assert await allow(counter, counter.operator, request, token="0" * 64) == "locked"
    assert await allow(counter, counter.operator, {**request, "digest": "x"}) == "digest_mismatch"
    assert told(counter) == []


async def test_other_refusals_are_no_attempt(counter: Counter) -> None:
    request = await counter.held()
    await counter.refused("decide", below(counter), request="zzzz", decision="deny")
    await counter.refused("decide", below(counter), request=request["id"])
    assert told(counter) == []


async def test_an_unknown_peer_is_recorded_too(counter: Counter) -> None:
    await counter.refused("off", counter.caller(), seconds=60)
    (data,) = told(counter)
    assert (data.standing, data.alarm) == ("below", "NO PERSON")
    assert sentence(data).startswith("a process (pid 50) tried to switch the gate off: refused")


@pytest.mark.parametrize("content", ["none", "commands"])
async def test_the_journal_keeps_no_more_of_the_call_than_it_may(
    counter: Counter, content: Any
) -> None:
    request = await counter.held("high AKIAIOSFODNN7EXAMPLE")
    await allow(counter, below(counter), request)
    (data,) = told(counter)
    view = bytes(journal_json(msgspec.to_builtins(data), content)).decode()
    assert ("high" in view) is (content == "commands")
    assert "AKIAIOSFODNN7EXAMPLE" not in view + alarms(counter)[0]
