"""What records say of the gate itself: its profile, the off switch, the journal and the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from watchgate.core.records import Record
from watchgate.core.views import GateView


def started(record: Record) -> GateView:
    """The gate of a new core."""
    return GateView(profile=record.data.get("profile") or "guard")


def is_off(gate: GateView, at: int) -> bool:
    """Whether the off switch was in force at a moment (UTC µs)."""
    until = gate.off_until
    return until is not None and (until == 0 or until > at)


def _off(gate: GateView, record: Record) -> GateView:
    until, by = record.data.get("until", 0), record.data.get("name", "")
    return msgspec.structs.replace(gate, off_until=until, off_by=by)


def _on(gate: GateView, _record: Record) -> GateView:
    return msgspec.structs.replace(gate, off_until=None, off_by="")


def _journal(gate: GateView, record: Record) -> GateView:
    return msgspec.structs.replace(gate, journal=record.data.get("detail", "lost"))


def _rules(gate: GateView, record: Record) -> GateView:
    broken = record.kind == "policy.broken" or gate.policy_broken
    words = record.data.get("detail", "")
    return msgspec.structs.replace(gate, policy=words, policy_broken=broken)


def _reloaded(gate: GateView, record: Record) -> GateView:
    """All is in force again; what it tells besides is wrong with files of projects."""
    fault = record.data.get("detail", "")
    return msgspec.structs.replace(gate, policy="", policy_broken=False, project_fault=fault)


def _fault(gate: GateView, record: Record) -> GateView:
    if record.data.get("tier") != "project":
        return gate
    return msgspec.structs.replace(gate, project_fault=record.data.get("detail", ""))


GATE_FOLDS: Final[dict[str, Callable[[GateView, Record], GateView]]] = {
    "policy.off": _off,
    "policy.on": _on,
    "policy.journal": _journal,
    "policy.changed": _rules,
    "policy.broken": _rules,
    "policy.reloaded": _reloaded,
    "policy.fault": _fault,
}
"""What each kind of record makes of the gate."""
