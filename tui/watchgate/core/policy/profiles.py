"""The decision table: what the gate does with an assessment in each profile."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.policy.assessment import NO_RULE, Assessment

Profile = Literal["watch", "guard", "strict"]
GateAction = Literal["record", "deny", "hold", "handback"]
Cell = Literal["record", "deny", "hold", "handback", "hold-if-autonomous"]
Says = Literal["deny", "grave", "unknown", "ask", "allow"]


class Row(msgspec.Struct, frozen=True):
    """What the policy said, in words, and what each profile makes of it."""

    says: Says
    title: str
    watch: Cell
    guard: Cell
    strict: Cell

    def cell(self, profile: Profile) -> Cell:
        """The entry of one profile."""
        match profile:
            case "watch":
                return self.watch
            case "guard":
                return self.guard
            case "strict":
                return self.strict


TABLE = (
    Row("deny", "deny rule", "record", "deny", "deny"),
    Row("grave", "high, critical", "record", "hold", "hold"),
    Row("unknown", "ask, unknown or no rule", "record", "hold-if-autonomous", "hold"),
    Row("ask", "ask, medium or low", "record", "handback", "hold"),
    Row("allow", "allow rule", "record", "handback", "handback"),
)


def table(profile: Profile) -> tuple[tuple[str, Cell], ...]:
    """The rows of the table for one profile, as (what the policy says, what the gate does)."""
    return tuple((row.title, row.cell(profile)) for row in TABLE)


def gate_action(profile: Profile, assessment: Assessment, *, autonomous: bool) -> GateAction:
    """What the gate does; `autonomous` says that nobody sits in front of the agent."""
    says = _says(assessment)
    cell = next(row for row in TABLE if row.says == says).cell(profile)
    if cell == "hold-if-autonomous":
        return "hold" if autonomous else "handback"
    return cell


def _says(assessment: Assessment) -> Says:
    if assessment.decision == "deny":
        return "deny"
    if assessment.risk in ("high", "critical"):
        return "grave"
    nobody_knows = any(finding.rule == NO_RULE for finding in assessment.findings)
    if assessment.opaque or assessment.risk == "unknown" or nobody_knows:
        return "unknown"
    return "allow" if assessment.decision == "allow" else "ask"
