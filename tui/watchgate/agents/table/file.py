"""A user's own agent: a TOML text becomes a `Table`, or an error that says which key to mend.

The keys are those of `Table`. A place may be written without its list, `session = "sessionId"`, and
a hook needs no `timeout_s`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from watchgate.agents.base import HookEntry
from watchgate.agents.hooks.entries import LONGEST_TIMEOUT_S, OBSERVER_TIMEOUT_S, WAITING
from watchgate.agents.table import EventRule, Fields, Table
from watchgate.agents.table.checks import faults
from watchgate.core import config_toml, decoding
from watchgate.core.config_errors import ConfigError, Source, explain
from watchgate.core.events import Lane

T = TypeVar("T", bound=msgspec.Struct)

_PLACES = frozenset(
    key for key, each in msgspec.structs.asdict(Fields()).items() if isinstance(each, tuple)
)
_INDEXED = ("hooks",)


class Hook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hook as it is written: without a time, the longest on a lane that waits."""

    event: str
    lane: Lane
    matcher: str | None = None
    timeout_s: int | None = None
    status_message: str | None = None


def load(text: str, origin: str) -> Table:
    """Returns the table that a text describes; `origin` names the file in errors.

    Raises `ConfigError`.
    """
    source = Source(text, origin)
    values = config_toml.parse(source)
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
    for key, what in faults(table):
        raise _placed(key, what, source)
    return table


def _converted(value: Any, kind: type[T], source: Source, table: str) -> T:
    try:
        return decoding.convert(value, kind)
    except msgspec.ValidationError as fault:
        raise explain(fault, kind, source, table) from None


def _hooks(values: Any, source: Source) -> tuple[HookEntry, ...]:
    if not isinstance(values, list):
        raise source.error("hooks", "hooks is a list: write [[hooks]], with two brackets")
    return tuple(
        _entry(_converted(value, Hook, source.entry("hooks", index), "hooks"))
        for index, value in enumerate(values)
    )


def _entry(hook: Hook) -> HookEntry:
    usual_s = LONGEST_TIMEOUT_S if hook.lane.waits else OBSERVER_TIMEOUT_S
    return HookEntry(
        event=hook.event,
        lane=hook.lane,
        matcher=hook.matcher,
        timeout_s=usual_s if hook.timeout_s is None else hook.timeout_s,
        status_message=hook.status_message or (WAITING if hook.lane.waits else None),
    )


def _placed(key: str, what: str, source: Source) -> ConfigError:
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
