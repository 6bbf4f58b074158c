"""A user's own agent: a TOML text becomes a `Table`, or an error that says which key to mend.

The keys are those of `Table`. A place may be written without its list, `session = "sessionId"`, and
a hook needs no `timeout_s`.

- The rules for a table beyond its types: mistakes that would open a gate or be void.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from watchgate.agents.base import HookEntry
from watchgate.agents.hooks import LONGEST_TIMEOUT_S, OBSERVER_TIMEOUT_S, WAITING
from watchgate.agents.table import EventAnswers, EventRule, Fields, Table
from watchgate.agents.table.answer_shapes import EVENT, REASON, encode_output
from watchgate.core.base import config_text, decoding
from watchgate.core.base.config_text import ConfigError, ConfigSource, explain
from watchgate.core.base.patterns.pattern import Pattern, PatternFault
from watchgate.core.model.events import Lane, Usage

Fault = tuple[str, str]
"""The dotted key of what is wrong, and what is allowed there."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_GATES = (Lane.GATE, Lane.GATE_READ)
_GATED = ("tool.pre", "tool.permission", "prompt.submit")
# What the guard around the hook client lets pass; the rest it turns into a denial of its own.
_EXITS = (0, 2)
_COUNTS = frozenset(msgspec.structs.asdict(Usage())) - {"counts", "cached_within", "limits"}


def table_faults(table: Table) -> Iterator[Fault]:
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


def _of_answers(key: str, answers: EventAnswers, native: str) -> Iterator[Fault]:
    for name in ("deny", "allow", "modify", "stop", "context", "nothing"):
        output = getattr(answers, name)
        if output is not None and output.exit not in _EXITS:
            yield f"{key}.{name}.exit", "use 0 or 2: any other status is taken for a failed hook"
        if output is not None and not _is_json(output.stdout):
            yield f"{key}.{name}.stdout", "use what JSON can say: no inf and no nan"
            return
    if answers.modify is not None and not _contains(answers.modify.stdout, "{input}"):
        yield f"{key}.modify", "say where the input goes: a value {input} in stdout"
    if answers.deny is None:
        return
    template = encode_output(answers.deny, native, reason="@").stdout.decode()
    if template.count("@") > 1:
        yield f"{key}.deny.stdout", f"write {REASON} at most once, and no other @"
    if not template and not answers.deny.stderr:
        yield f"{key}.deny", f"say why: {REASON} in stdout or stderr; agents ignore a bare denial"
    denial = encode_output(answers.deny, EVENT, reason="x")
    for name in ("allow", "modify", "context", "nothing"):
        output = getattr(answers, name)
        if output is not None and _alike(encode_output(output, EVENT, reason="x"), denial):
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


def _contains(shape: Any, value: str) -> bool:
    if isinstance(shape, dict):
        return any(_contains(each, value) for each in shape.values())
    if isinstance(shape, list | tuple):
        return any(_contains(each, value) for each in shape)
    return bool(shape == value)


def _is_json(value: Any) -> bool:
    try:
        return bool(msgspec.json.decode(msgspec.json.encode(value)) == msgspec.to_builtins(value))
    except (TypeError, ValueError, OverflowError):
        return False


T = TypeVar("T", bound=msgspec.Struct)

_PLACES = frozenset(
    key for key, each in msgspec.structs.asdict(Fields()).items() if isinstance(each, tuple)
)
_INDEXED = ("hooks",)


class WrittenHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hook as it is written: without a time, the longest on a lane that waits."""

    event: str
    lane: Lane
    matcher: str | None = None
    timeout_s: int | None = None
    status_message: str | None = None


def load_table(text: str, origin: str) -> Table:
    """Returns the table that a text describes; `origin` names the file in errors.

    Raises `ConfigError`.
    """
    source = ConfigSource(text, origin)
    values = config_text.parse(source)
    events = values.pop("events", {})
    if not isinstance(events, dict):
        raise source.error("events", "events is a table: write [events.NAME] for each event")
    _listed(values.get("fields"), _PLACES)
    for rule in events.values():
        _listed_in_rule(rule)
    hooks = _hooks(values.pop("hooks", []), source)
    table = _converted({**values, "events": {}}, Table, source, "")
    table = msgspec.structs.replace(
        table,
        events={
            native: _converted(rule, EventRule, source, f"events.{native}")
            for native, rule in events.items()
        },
        hooks=hooks,
    )
    for key, what in table_faults(table):
        raise _placed(key, what, source)
    return table


def _converted(value: Any, kind: type[T], source: ConfigSource, table: str) -> T:
    try:
        return decoding.convert(value, kind)
    except msgspec.ValidationError as fault:
        raise explain(fault, kind, source, table) from None


def _hooks(values: Any, source: ConfigSource) -> tuple[HookEntry, ...]:
    if not isinstance(values, list):
        raise source.error("hooks", "hooks is a list: write [[hooks]], with two brackets")
    return tuple(
        _entry(_converted(value, WrittenHook, source.entry("hooks", index), "hooks"))
        for index, value in enumerate(values)
    )


def _entry(hook: WrittenHook) -> HookEntry:
    usual_s = LONGEST_TIMEOUT_S if hook.lane.waits else OBSERVER_TIMEOUT_S
    return HookEntry(
        event=hook.event,
        lane=hook.lane,
        matcher=hook.matcher,
        timeout_s=usual_s if hook.timeout_s is None else hook.timeout_s,
        status_message=hook.status_message or (WAITING if hook.lane.waits else None),
    )


def _placed(key: str, what: str, source: ConfigSource) -> ConfigError:
    """Returns the fault with its line, which for one of several entries is in that entry."""
    name, _, rest = key.partition("[")
    if name in _INDEXED and rest:
        index, _, below = rest.partition("]")
        return source.entry(name, int(index)).error(f"{name}{below}", f"{key}: {what}")
    return source.error(key, f"{key}: {what}")


def _listed_in_rule(rule: Any) -> None:
    if not isinstance(rule, dict):
        return
    _listed(rule, frozenset(("text",)))
    _listed(rule.get("fields"), _PLACES)
    usage = rule.get("usage")
    if isinstance(usage, dict):
        _listed(usage, frozenset(usage))


def _listed(values: Any, keys: frozenset[str]) -> None:
    """Turns one place into a list of one, where lists of places are."""
    if isinstance(values, dict):
        for key in keys & values.keys():
            if isinstance(values[key], str):
                values[key] = [values[key]]
