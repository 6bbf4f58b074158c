"""The rules for a table beyond its types: mistakes that would open a gate or be void."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.agents.base import HookEntry
from watchgate.agents.table import Answers, EventRule, Fields, Table
from watchgate.agents.table.answers import EVENT, REASON, said
from watchgate.core.events import Lane, Usage
from watchgate.core.patterns.pattern import Pattern, PatternFault

Fault = tuple[str, str]
"""The dotted key of what is wrong, and what is allowed there."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_GATES = (Lane.GATE, Lane.GATE_READ)
_GATED = ("tool.pre", "tool.permission", "prompt.submit")
# What the guard around the hook client lets pass; the rest it turns into a denial of its own.
_EXITS = (0, 2)
_COUNTS = frozenset(msgspec.structs.asdict(Usage())) - {"counts", "cached_within", "limits"}


def faults(table: Table) -> Iterator[Fault]:
    """Yields everything that is wrong with a table, by its dotted key."""
    if not _NAME.fullmatch(table.name):
        yield "name", "use lower-case letters, digits and -, a letter first, at most 32 in all"
    if not table.title.strip():
        yield "title", "say the name that a person reads"
    if not table.events:
        yield "events", "describe at least one event of the agent"
    yield from _of_fields("fields", table.fields)
    for native, rule in table.events.items():
        yield from _of_event(f"events.{native}", rule, native)
        if rule.fields is not None:
            yield from _of_fields(f"events.{native}.fields", rule.fields)
    for index, written in enumerate(table.mcp):
        if written.count("{tool}") != 1 or written.count("{server}") > 1:
            yield f"mcp[{index}]", "write {tool} once, and {server} at most once"
    for index, entry in enumerate(table.hooks):
        yield from _of_hook(f"hooks[{index}]", entry, table)


def _of_event(key: str, rule: EventRule, native: str) -> Iterator[Fault]:
    for name in rule.usage:
        if name not in _COUNTS:
            yield f"{key}.usage.{name}", f"use one of {', '.join(sorted(_COUNTS))}"
    if rule.answers is not None:
        yield from _of_answers(f"{key}.answers", rule.answers, native)


def _of_answers(key: str, answers: Answers, native: str) -> Iterator[Fault]:
    for name in ("deny", "allow", "modify", "stop", "context", "nothing"):
        output = getattr(answers, name)
        if output is not None and output.exit not in _EXITS:
            yield f"{key}.{name}.exit", "use 0 or 2: any other status is taken for a failed hook"
        if output is not None and not _is_json(output.stdout):
            yield f"{key}.{name}.stdout", "use what JSON can say: no inf and no nan"
            return
    if answers.modify is not None and not _holds(answers.modify.stdout, "{input}"):
        yield f"{key}.modify", "say where the input goes: a value {input} in stdout"
    if answers.deny is None:
        return
    template = said(answers.deny, native, reason="@").stdout.decode()
    if template.count("@") > 1:
        yield f"{key}.deny.stdout", f"write {REASON} at most once, and no other @"
    if not template and not answers.deny.stderr:
        yield f"{key}.deny", f"say why: {REASON} in stdout or stderr; agents ignore a bare denial"
    denial = said(answers.deny, EVENT, reason="x")
    for name in ("allow", "modify", "context", "nothing"):
        output = getattr(answers, name)
        if output is not None and _alike(said(output, EVENT, reason="x"), denial):
            yield f"{key}.{name}", "it is what denies as well; an agent could not tell them apart"


def _of_fields(key: str, fields: Fields) -> Iterator[Fault]:
    if not fields.exit_pattern:
        return
    try:
        groups = re.compile(fields.exit_pattern).groups
    except re.error as error:
        yield f"{key}.exit_pattern", f"not a regular expression: {error}"
        return
    if groups != 1:
        yield f"{key}.exit_pattern", "put the status into one group, as in code (-?[0-9]+)"
    try:
        Pattern(fields.exit_pattern).refuse_slow()
    except PatternFault as fault:
        yield f"{key}.exit_pattern", str(fault)


def _of_hook(key: str, entry: HookEntry, table: Table) -> Iterator[Fault]:
    rule = table.events.get(entry.event)
    if rule is None:
        yield f"{key}.event", f"use one of the table's events: {', '.join(table.events)}"
        return
    if not 1 <= entry.timeout_s <= 86_400:
        yield f"{key}.timeout_s", "use 1 to 86400 seconds"
    if entry.lane is Lane.RELAY and (rule.answers is None or rule.answers.deny is None):
        why = f"what an operator denies must be told: give events.{entry.event} a deny"
        yield f"{key}.lane", f"{why}, or observe it"
    if entry.lane in _GATES:
        if rule.kind not in _GATED:
            yield f"{key}.lane", f"only events of the kinds {', '.join(_GATED)} can be gated"
        if rule.answers is None or rule.answers.deny is None:
            yield f"{key}.lane", f"a gate must be able to deny: give events.{entry.event} a deny"


def _alike(one: Any, other: Any) -> bool:
    return (one.stdout, one.exit_code) == (other.stdout, other.exit_code)


def _holds(shape: Any, value: str) -> bool:
    if isinstance(shape, dict):
        return any(_holds(each, value) for each in shape.values())
    if isinstance(shape, list | tuple):
        return any(_holds(each, value) for each in shape)
    return bool(shape == value)


def _is_json(value: Any) -> bool:
    try:
        return bool(msgspec.json.decode(msgspec.json.encode(value)) == msgspec.to_builtins(value))
    except (TypeError, ValueError, OverflowError):
        return False
