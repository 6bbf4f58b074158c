"""Mistakes in a table that would open a gate, or be void, are found before it is used."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agents.tables import DENY, TABLE
from watchgate.agents.base import HookEntry
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.table import EventAnswers, EventRule, HookOutput, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.table_file import table_faults
from watchgate.core.model.events import Lane

TABLES = {name: agent.table for name, agent in ADAPTERS.items() if isinstance(agent, TableAdapter)}


def with_answers(**answers: Any) -> Table:
    rule = EventRule(kind="tool.pre", answers=EventAnswers(**answers))
    return Table(name="x", title="X", events={"a": rule})


def hooked(event: str, lane: Lane, timeout_s: int = 5) -> Table:
    return msgspec.structs.replace(
        TABLE, hooks=(HookEntry(event=event, lane=lane, timeout_s=timeout_s),)
    )


def test_a_good_table_has_none() -> None:
    assert list(table_faults(TABLE)) == []


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_the_built_in_agents_have_none(name: str) -> None:
    assert list(table_faults(TABLES[name])) == []
    assert TABLES[name].name == name


@pytest.mark.parametrize(
    ("table", "key", "said"),
    [
        (msgspec.structs.replace(TABLE, name="Hal 9"), "name", "lower-case"),
        (msgspec.structs.replace(TABLE, title=" "), "title", "a person reads"),
        (msgspec.structs.replace(TABLE, events={}, hooks=()), "events", "at least one"),
        (msgspec.structs.replace(TABLE, mcp=("mcp_{server}",)), "mcp[0]", "{tool} once"),
        (hooked("nope", Lane.OBSERVE), "hooks[0].event", "before, asks"),
        (hooked("after", Lane.GATE), "hooks[0].lane", "can be gated"),
        (hooked("said", Lane.GATE), "hooks[0].lane", "must be able to deny"),
        (hooked("after", Lane.RELAY), "hooks[0].lane", "must be told"),
        (hooked("after", Lane.OBSERVE, 0), "hooks[0].timeout_s", "1 to 86400"),
        (with_answers(deny=HookOutput(exit=2)), "events.a.answers.deny", "say why"),
        (
            with_answers(deny=HookOutput(stdout=["{reason}"] * 2)),
            "events.a.answers.deny.stdout",
            "once",
        ),
        (
            with_answers(deny=HookOutput(stdout={"a@b": "{reason}"})),
            "events.a.answers.deny.stdout",
            "no other @",
        ),
        (with_answers(deny=DENY, nothing=DENY), "events.a.answers.nothing", "denies as well"),
        (
            with_answers(deny=HookOutput(stdout={"ok": 1}), allow=HookOutput(stdout={"ok": 1})),
            "events.a.answers.allow",
            "denies as well",
        ),
        (with_answers(modify=HookOutput(stdout={"ok": 1})), "events.a.answers.modify", "{input}"),
        (with_answers(allow=HookOutput(exit=1)), "events.a.answers.allow.exit", "0 or 2"),
        (with_answers(deny=HookOutput(stdout=1, exit=3)), "events.a.answers.deny.exit", "0 or 2"),
        (with_answers(allow=HookOutput(stdout=object())), "events.a.answers.allow.stdout", "JSON"),
        (
            Table(
                name="x",
                title="X",
                events={"a": EventRule(kind="usage", usage={"inputs": ("n",)})},
            ),
            "events.a.usage.inputs",
            "cache_read",
        ),
    ],
)
def test_a_mistake_is_named_by_its_key_with_what_is_allowed(
    table: Table, key: str, said: str
) -> None:
    where, what = next(table_faults(table))

    assert where == key
    assert said in what


def test_an_event_whose_name_holds_the_mark_of_the_reason_is_found() -> None:
    deny = HookOutput(stdout={"event": "{event}", "why": "{reason}"})
    rule = EventRule(kind="tool.pre", answers=EventAnswers(deny=deny))
    table = Table(name="x", title="X", events={"pre@tool": rule})
    assert [key for key, _ in table_faults(table)] == ["events.pre@tool.answers.deny.stdout"]
