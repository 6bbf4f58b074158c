"""Handlers as the configuration describes them, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core import config_escalation, config_sinks, decoding, matcher_texts, startable
from watchgate.core.bus import Bus
from watchgate.core.config_costs import PriceConfig
from watchgate.core.config_errors import Source, explain
from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.config_handlers import ExtensionConfig, HandlerConfig, SinkConfig
from watchgate.core.handlers import Handler
from watchgate.core.hooks.registry import PROTOCOLS
from watchgate.core.judging import POLICY
from watchgate.core.matching import Matcher
from watchgate.core.presets import DispatchPolicy
from watchgate.core.registration import RegistrationError

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
    own = matcher_texts.read(protocol.name, config.matcher)
    conditions = (*own.conditions, *matcher_texts.from_config(config.match).conditions)
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


def check_shapes(values: dict[str, Any], source: Source) -> None:
    """Raise `ConfigError` for an entry whose keys or values are not allowed, at its own lines."""
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
    source: Source,
) -> None:
    """Raise `ConfigError` for an entry that could never do what it says.

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
        except (RegistrationError, matcher_texts.MatcherError) as refusal:
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
    if (sink_fault := config_sinks.check_all(sinks, stdout_is_free=True)) is not None:
        at, message = sink_fault
        raise source.entry("sink", at).error("sink", message)


def check_escalations(escalations: tuple[EscalationConfig, ...], source: Source) -> None:
    """Raise `ConfigError` for an entry that could tell nobody."""
    if (fault := config_escalation.check_all(escalations)) is not None:
        at, key, message = fault
        raise source.entry("escalation", at).error(f"escalation.{key}", message)


def unheard(handlers: Iterable[HandlerConfig], preset: DispatchPolicy) -> list[str]:
    """Return warnings: kinds for which a handler's protocol has no event of its own."""
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
    if unstartable := startable.fault(config):
        key, why = unstartable
        return f"handler.{key}", why
    protocol = PROTOCOLS[config.protocol or preset.protocol]
    if config.role == "gate" and not protocol.reads_output:
        why = f"{protocol.name} programs are told and never heard, so they can decide nothing"
        return "handler.role", f'{why}; write role = "observer"'
    handler = handler_of(config, preset)
    bus.register(handler)
    impossible = matcher_texts.impossible(handler.match)
    return None if impossible is None else ("handler", impossible)


def _unfit(id: str) -> str:
    """Return the reason why a record could not name a handler so; empty when it can."""
    if id == POLICY:
        return "that is the built-in policy's own name in every record; give it another id"
    if not id.isprintable() or ":" in id:
        return "an id has printable characters and no colon in it"
    return ""
