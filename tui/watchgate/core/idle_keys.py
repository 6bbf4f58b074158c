"""Keys of handlers and extensions that do nothing under the preset, so that they are warned of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from watchgate.core.config_handlers import ExtensionConfig, HandlerConfig
from watchgate.core.presets import DispatchPolicy

Entry = HandlerConfig | ExtensionConfig
Check = Callable[[Entry, DispatchPolicy], str]


def idle(entries: Iterable[Entry], preset: DispatchPolicy) -> list[str]:
    """Return a warning for each key that was given and has no effect, with what has one."""
    warnings = []
    for entry in entries:
        kind = "handler" if isinstance(entry, HandlerConfig) else "extension"
        words = (check(entry, preset) for check in _CHECKS)
        warnings += [f"{kind} {entry.id}: {problem}" for problem in words if problem]
    return warnings


def _order(entry: Entry, preset: DispatchPolicy) -> str:
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
    _order,
    _observers_failure,
    _closed_in_view,
    _longer_than_all,
)
