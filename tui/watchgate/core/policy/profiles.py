"""The decision table: what the gate does with an assessment in each profile."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.policy.assessment import NO_RULE, Assessment

Profile = Literal["watch", "guard", "strict"]
GateAction = Literal["record", "deny", "hold", "handback", "allow"]
Cell = Literal["record", "deny", "hold", "handback", "hold-if-autonomous", "allow-if-configured"]
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
    Row("allow", "allow rule", "record", "allow-if-configured", "allow-if-configured"),
)


def table(profile: Profile, *, auto_allow: bool = False) -> tuple[tuple[str, Cell], ...]:
    """The rows of the table for one profile, as (what the policy says, what the gate does)."""
    return tuple((row.title, _configured(row.cell(profile), auto_allow)) for row in TABLE)


def gate_action(
    profile: Profile, assessment: Assessment, *, autonomous: bool, auto_allow: bool = False
) -> GateAction:
    """What the gate does; `autonomous` says that nobody sits in front of the agent.

    `auto_allow` is the setting under which an allow rule is told to the agent as an allow.
    """
    says = _says(assessment)
    cell = next(row for row in TABLE if row.says == says).cell(profile)
    match cell:
        case "hold-if-autonomous":
            return "hold" if autonomous else "handback"
        case "allow-if-configured":
            return "allow" if auto_allow else "handback"
        case _:
            return cell


def _configured(cell: Cell, auto_allow: bool) -> Cell:
    if cell != "allow-if-configured":
        return cell
    return "allow-if-configured" if auto_allow else "handback"


def _says(assessment: Assessment) -> Says:
    if assessment.decision == "deny":
        return "deny"
    if assessment.risk in ("high", "critical"):
        return "grave"
    nobody_knows = any(finding.rule == NO_RULE for finding in assessment.findings)
    if assessment.opaque or assessment.risk == "unknown" or nobody_knows:
        return "unknown"
    return "allow" if assessment.decision == "allow" else "ask"
