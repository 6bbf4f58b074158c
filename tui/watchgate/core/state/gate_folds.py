"""Folds of the records about the gate: its profile, off switch, journal, rules and own files.

- The grants in force, folded from records: the list that a screen or a script shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.records import ATTEMPT, Record, TamperedData
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.views import GateView
from watchgate.core.presence.attempts import KIND as REFUSED
from watchgate.core.presence.attempts import AttemptData, sentence


class GrantsInForce:
    """Every grant in force by its id, oldest first."""

    def __init__(self, views: Iterable[GrantView] = ()) -> None:
        self.views = {view.id: view for view in views}

    def given(self, record: Record) -> None:
        """Adds a grant that was given, or is in force again."""
        view = decoding.convert(record.data, GrantView)
        self.views[view.id] = view

    def used(self, record: Record) -> None:
        """Counts that a grant answered a request."""
        data = record.data
        view = self.views.get(data["grant"])
        if view is not None:
            self.views[view.id] = msgspec.structs.replace(
                view, hits=data["hits"], used_at=data["used_at"], until_at=data["until_at"]
            )

    def over(self, record: Record) -> None:
        """Removes a grant that was taken back, or has ended."""
        self.views.pop(record.data["grant"], None)


ATTEMPT_MEND: Final = "watchgate search kind:policy.refused, then watchgate on"


def gate_at_start(record: Record) -> GateView:
    """Returns the gate of a new core."""
    return GateView(profile=record.data.get("profile") or "guard")


def _profile(gate: GateView, record: Record) -> GateView:
    return msgspec.structs.replace(gate, profile=record.data.get("profile") or gate.profile)


def is_off(gate: GateView, at: int) -> bool:
    """Returns whether the off switch was in force at a moment (UTC µs)."""
    until = gate.off_until
    return until is not None and (until == 0 or until > at)


def _off(gate: GateView, record: Record) -> GateView:
    until, by = record.data.get("until", 0), record.data.get("name", "")
    return msgspec.structs.replace(gate, off_until=until, off_by=by)


def _on(gate: GateView, record: Record) -> GateView:
    """Ends the off switch; a person who was proven to end it knows of the refused attempts."""
    left = gate.tampered
    actor = record.data.get("actor")
    if isinstance(actor, dict) and actor.get("standing", "unproven") != "unproven":
        left = tuple(each for each in left if each.part != ATTEMPT)
    return msgspec.structs.replace(gate, off_until=None, off_by="", tampered=left)


def _journal(gate: GateView, record: Record) -> GateView:
    return msgspec.structs.replace(gate, journal=record.data.get("detail", "lost"))


def _rules(gate: GateView, record: Record) -> GateView:
    if "detail" not in record.data:
        return gate  # other rules than the last core's, in force from the start
    broken = record.kind == "policy.broken" or gate.policy_broken
    words = record.data.get("detail", "")
    return msgspec.structs.replace(gate, policy=words, policy_broken=broken)


def _reloaded(gate: GateView, record: Record) -> GateView:
    """Puts all rules in force again; a detail names what is wrong with files of projects."""
    fault = record.data.get("detail", "")
    return msgspec.structs.replace(gate, policy="", policy_broken=False, project_fault=fault)


def _fault(gate: GateView, record: Record) -> GateView:
    if record.data.get("tier") != "project":
        return gate
    return msgspec.structs.replace(gate, project_fault=record.data.get("detail", ""))


def _tampered(gate: GateView, record: Record) -> GateView:
    return _with_finding(gate, record, decoding.convert(record.data, TamperedData))


def _refused(gate: GateView, record: Record) -> GateView:
    tried = decoding.convert(record.data, AttemptData)
    if not tried.alarm:
        return gate
    attempt = TamperedData(part=ATTEMPT, path="", what=sentence(tried), mend=ATTEMPT_MEND)
    return _with_finding(gate, record, attempt)


def _with_finding(gate: GateView, record: Record, finding: TamperedData) -> GateView:
    others = _but(gate.tampered, finding)
    left = others if record.kind == "policy.intact" else (*others, finding)
    return msgspec.structs.replace(gate, tampered=left)


def _but(findings: Iterable[TamperedData], finding: TamperedData) -> tuple[TamperedData, ...]:
    """Returns the findings about other files, or about other parts of this one."""
    about = (finding.part, finding.agent, finding.path)
    return tuple(each for each in findings if (each.part, each.agent, each.path) != about)


GATE_FOLDS: Final[dict[str, Callable[[GateView, Record], GateView]]] = {
    "policy.profile": _profile,
    "policy.off": _off,
    "policy.on": _on,
    "policy.journal": _journal,
    "policy.changed": _rules,
    "policy.broken": _rules,
    "policy.reloaded": _reloaded,
    "policy.fault": _fault,
    "policy.tampered": _tampered,
    "policy.intact": _tampered,
    REFUSED: _refused,
}
"""The function by which each kind of record changes the gate."""
