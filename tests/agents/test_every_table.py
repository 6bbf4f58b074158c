"""What holds for every agent that is a table, whatever its table says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from watchgate.agents.base import Intake
from watchgate.agents.registry import ADAPTERS, closed_exit, closed_template
from watchgate.agents.table import Fields
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.payload_values import placeholders
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import SayAllow, SayAnswer, SayDeny, SayNothing

TABLES = {name: each for name, each in ADAPTERS.items() if isinstance(each, TableAdapter)}
ASKED = [
    pytest.param(agent, native, id=f"{agent.name}-{native}")
    for agent in TABLES.values()
    for native in agent.table.events
    if agent.can(native).deny
]


def put(payload: dict[str, Any], place: str, value: Any) -> None:
    """Sets what lies at a place, which goes through objects and lists."""
    first, *rest = place.split(".")
    inner: Any = payload
    for key, after in zip([first, *rest], rest, strict=False):
        inner = inner.setdefault(key, [None] if after == "0" else {})
    last = [first, *rest][-1]
    if isinstance(inner, list):
        inner[0] = value
    else:
        inner[last] = value


def payload(agent: TableAdapter, native: str, args: dict[str, Any]) -> bytes:
    """A payload of this event with a value at every first place."""
    rule = agent.table.events[native]
    built: dict[str, Any] = {}
    for place in placeholders(rule.tool):
        put(built, place, "probe")
    values = {"event": native, "session": "s-1", "cwd": "/srv", "tool": "probe", "input": args}
    if rule.input:
        del values["input"]
        for place in rule.input.values():
            put(built, place, "x")
    for key, value in values.items():
        places = getattr(agent.table.fields, key)
        own = getattr(rule.fields or Fields(), key)
        if own != getattr(Fields(), key):
            places = own
        if places:
            put(built, places[0], value)
    return msgspec.json.encode(built)


def asked(agent: TableAdapter, native: str, lane: Lane = Lane.GATE) -> Event:
    intake = Intake(lane=lane, at=Instant(1, 1.0), native=native, deadline_s=9.0)
    return agent.decode(payload(agent, native, {"command": "make"}), intake)


def test_there_are_tables() -> None:
    assert len(TABLES) >= 10


@pytest.mark.parametrize(("agent", "native"), ASKED)
def test_only_an_allow_is_told_as_one(agent: TableAdapter, native: str) -> None:
    event = asked(agent, native)
    allowed = agent.answer(event, SayAllow())
    handed_back = agent.answer(event, SayNothing())

    for reply in (SayDeny("no"), SayDeny("no", stop=True), SayDeny("")):
        denied = agent.answer(event, reply)
        assert denied not in (allowed, handed_back)
        assert denied.stdout or denied.stderr
    if agent.can(native).allow:
        assert agent.answer(event, SayAnswer((("yes",),))) == handed_back


@pytest.mark.parametrize(("agent", "native"), ASKED)
def test_an_edit_is_told_or_denied_but_the_call_never_runs_as_it_was(
    agent: TableAdapter, native: str
) -> None:
    event = asked(agent, native)
    plain = {agent.answer(event, SayAllow()).stdout, agent.answer(event, SayNothing()).stdout}

    told = agent.answer(event, SayAllow({"command": "an edited one"}))

    if b"an edited one" not in told.stdout:
        assert (told.stdout, told.exit_code) not in {(stdout, 0) for stdout in plain}


@pytest.mark.parametrize(("agent", "native"), ASKED)
def test_the_hook_client_can_deny_by_itself_in_the_same_bytes(
    agent: TableAdapter, native: str
) -> None:
    closed = agent.closed(native, Lane.GATE, "why")

    assert closed_template(agent, native).replace("@", "why", 1).encode() == closed.stdout
    assert closed_exit(agent, native) == closed.exit_code
    assert closed == agent.answer(asked(agent, native), SayDeny("why"))


@pytest.mark.parametrize("agent", TABLES.values(), ids=TABLES)
def test_a_payload_that_nobody_could_read_is_denied_on_the_gate(agent: TableAdapter) -> None:
    for native in ("", "of next year"):
        assert agent.closed(native, Lane.GATE, "why") in [
            agent.closed(known, Lane.GATE, "why")
            for known in agent.table.events
            if agent.can(known).deny
        ]


@pytest.mark.parametrize("profile", ["watch", "guard", "strict"])
@pytest.mark.parametrize("agent", TABLES.values(), ids=TABLES)
def test_gates_stand_before_calls_and_under_watch_nowhere(
    agent: TableAdapter, profile: str
) -> None:
    lanes = {entry.event: entry.lane for entry in agent.entries(profile)}

    assert (Lane.GATE in lanes.values() or Lane.GATE_READ in lanes.values()) is (profile != "watch")
    assert all(agent.can(event).deny for event, lane in lanes.items() if lane is Lane.GATE)
    assert lanes.keys() == {entry.event for entry in agent.entries("guard")}
