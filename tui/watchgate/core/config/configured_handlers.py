"""Handlers as the configuration describes them, and what is wrong with them.

- Keys of handlers and extensions that do nothing under the preset, so that they are warned of.
- Finds commands that no process could be started with, when the configuration is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.config_text import ConfigSource, explain
from watchgate.core.config import config_sections
from watchgate.core.config.config_sections import EscalationConfig, PriceConfig
from watchgate.core.dispatch import handler_config
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_config import ExtensionConfig, HandlerConfig, SinkConfig
from watchgate.core.dispatch.handler_matchers import Matcher
from watchgate.core.dispatch.handlers import Handler, RegistrationError
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.dispatch.verdict_rules import POLICY

Entry = HandlerConfig | ExtensionConfig
Check = Callable[[Entry, DispatchPolicy], str]


def idle(entries: Iterable[Entry], preset: DispatchPolicy) -> list[str]:
    """Returns a warning for each key that was given and has no effect, with what has one."""
    warnings = []
    for entry in entries:
        kind = "handler" if isinstance(entry, HandlerConfig) else "extension"
        words = (check(entry, preset) for check in _CHECKS)
        warnings += [f"{kind} {entry.id}: {problem}" for problem in words if problem]
    return warnings


def _ignored_priority_fault(entry: Entry, preset: DispatchPolicy) -> str:
    if preset.order == "priority" or entry.priority == _PRIORITY:
        return ""
    return (
        f"priority = {entry.priority} does nothing under {preset.name}, which runs handlers in the"
        " order of this file; move the entry instead"
    )


def _observers_failure(entry: Entry, _preset: DispatchPolicy) -> str:
    keys = ("on_failure", "continue_on_failure")
    given = [key for key in keys if getattr(entry, key, None) is not None]
    if entry.role != "observer" or not given:
        return ""
    return (
        f"an observer's {' and '.join(given)} is never used: its failure is a line in the trace and"
        " stops nothing; take it out"
    )


def _closed_in_view(entry: Entry, preset: DispatchPolicy) -> str:
    kinds = sorted(getattr(entry, "on", ()))
    decides = any(preset.effect(kind) == "gate" for kind in kinds)
    if entry.role != "gate" or entry.on_failure != "closed" or not kinds or decides:
        return ""
    gates = ", ".join(sorted(preset.gates or ())) or "nothing"
    return (
        f'on_failure = "closed" prevents nothing at {", ".join(kinds)}: {preset.name} decides'
        f" {gates}; use another event or preset, or take it out"
    )


def _longer_than_all(entry: Entry, preset: DispatchPolicy) -> str:
    if entry.timeout_s is None or entry.timeout_s <= preset.total_timeout_s:
        return ""
    return (
        f"timeout_s = {entry.timeout_s:g} is never reached: all handlers of one event have"
        f" {preset.total_timeout_s:g} s together; raise [dispatch] total_timeout_s, or lower it"
    )


_PRIORITY: Final = {field.name: field.default for field in msgspec.structs.fields(HandlerConfig)}[
    "priority"
]
_CHECKS: Final[tuple[Check, ...]] = (
    _ignored_priority_fault,
    _observers_failure,
    _closed_in_view,
    _longer_than_all,
)


def fault(config: HandlerConfig) -> tuple[str, str] | None:
    """The key that no process can be started with, and why; None when there is none."""
    if not config.command[0]:
        return "command", "command names no program: its first text is empty"
    for at, argument in enumerate(config.command):
        if "\0" in argument:
            return "command", f"command[{at}] holds a NUL character, which no argument can"
    for name, value in config.env.items():
        if not name:
            return "env", "env has a variable without a name"
        if "=" in name or "\0" in name:
            return "env", f"env names {name!r}, and a name can hold neither = nor a NUL character"
        if "\0" in value:
            return "env", f"env.{name} holds a NUL character, which no variable can"
    if "\0" in (config.cwd or ""):
        return "cwd", "cwd holds a NUL character, which no folder's name can"
    return None


_ENTRIES: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("handler", HandlerConfig),
    ("extension", ExtensionConfig),
    ("sink", SinkConfig),
    ("escalation", EscalationConfig),
    ("price", PriceConfig),
)


def handler_of(config: HandlerConfig, preset: DispatchPolicy) -> Handler:
    """The handler that a `[[handler]]` describes; it is not checked yet."""
    protocol = PROTOCOLS[config.protocol or preset.protocol]
    own = handler_config.read_matcher(protocol.name, config.matcher)
    conditions = (*own.conditions, *handler_config.matcher_from_config(config.match).conditions)
    return Handler(
        id=config.id,
        on=frozenset(config.on),
        role=config.role,
        kind="command",
        priority=config.priority,
        match=Matcher(conditions),
        timeout_s=protocol.limit_s(config.timeout_s),
        on_failure=config.on_failure,
        continue_on_failure=config.continue_on_failure,
        once=config.once,
        disabled=not config.enabled,
    )


def check_shapes(values: dict[str, Any], source: ConfigSource) -> None:
    """Raises `ConfigError` for an entry whose keys or values are not allowed, at its own lines."""
    for name, kind in _ENTRIES:
        entries = values.get(name, [])
        if not isinstance(entries, list):
            raise source.error(name, f"{name} is a list: write [[{name}]], with two brackets")
        for index, entry in enumerate(entries):
            try:
                decoding.convert(entry, kind)
            except msgspec.ValidationError as fault:
                raise explain(fault, kind, source.entry(name, index), name) from None


def check_meaning(
    handlers: tuple[HandlerConfig, ...],
    extensions: tuple[ExtensionConfig, ...],
    sinks: tuple[SinkConfig, ...],
    preset: DispatchPolicy,
    source: ConfigSource,
) -> None:
    """Raises `ConfigError` for an entry that could never do what it says.

    Args:
        handlers: The `[[handler]]` entries, in their order.
        extensions: The `[[extension]]` entries, in their order.
        sinks: The `[[sink]]` entries, in their order.
        preset: The dispatch policy that the configuration names.
        source: The text that all of them came from, for the line of a fault.
    """
    bus = Bus(preset)
    for index, config in enumerate(handlers):
        try:
            fault = _fault(config, preset, bus)
        except (RegistrationError, handler_config.MatcherError) as refusal:
            raise source.entry("handler", index).error("handler", str(refusal)) from None
        if fault is not None:
            key, why = fault
            message = f"handler {config.id!r}: {why}"
            raise source.entry("handler", index).error(key, message)
    taken = {config.id for config in handlers}
    for index, extension in enumerate(extensions):
        why = "an id is given once" if extension.id in taken else _unfit(extension.id)
        if why:
            message = f"extension {extension.id!r}: {why}"
            raise source.entry("extension", index).error("extension.id", message)
        taken.add(extension.id)
    if (sink_fault := config_sections.first_sink_fault(sinks, stdout_is_free=True)) is not None:
        at, message = sink_fault
        raise source.entry("sink", at).error("sink", message)


def check_escalations(escalations: tuple[EscalationConfig, ...], source: ConfigSource) -> None:
    """Raises `ConfigError` for an entry that could tell nobody."""
    if (fault := config_sections.first_escalation_fault(escalations)) is not None:
        at, key, message = fault
        raise source.entry("escalation", at).error(f"escalation.{key}", message)


def unsupported_kinds(handlers: Iterable[HandlerConfig], preset: DispatchPolicy) -> list[str]:
    """Returns warnings: kinds for which a handler's protocol has no event of its own."""
    warnings = []
    for config in handlers:
        protocol = PROTOCOLS[config.protocol or preset.protocol]
        warnings += [
            f"handler {config.id}: {protocol.name} has no event for {kind}, so its command is told"
            f" a generic one; it knows {', '.join(sorted(protocol.events))}"
            for kind in config.on
            if kind not in protocol.events
        ]
    return warnings


def _fault(config: HandlerConfig, preset: DispatchPolicy, bus: Bus) -> tuple[str, str] | None:
    """The key that makes a handler impossible, and why; None for one that is registered now."""
    if why := _unfit(config.id):
        return "handler.id", why
    if unstartable := fault(config):
        key, why = unstartable
        return f"handler.{key}", why
    protocol = PROTOCOLS[config.protocol or preset.protocol]
    if config.role == "gate" and not protocol.reads_output:
        why = f"{protocol.name} programs are told and never heard, so they can decide nothing"
        return "handler.role", f'{why}; write role = "observer"'
    handler = handler_of(config, preset)
    bus.register(handler)
    impossible = handler_config.why_impossible(handler.match)
    return None if impossible is None else ("handler", impossible)


def _unfit(id: str) -> str:
    """Returns the reason why a record could not name a handler so; empty when it can."""
    if id == POLICY:
        return "that is the built-in policy's own name in every record; give it another id"
    if not id.isprintable() or ":" in id:
        return "an id has printable characters and no colon in it"
    return ""
