"""The decision table: what the gate does with an assessment in each profile."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from watchgate.core.model.assessment import NO_RULE, Assessment

Profile = Literal["watch", "guard", "strict"]
"""From the one that holds nothing to the one that holds most."""

PROFILES: tuple[Profile, ...] = get_args(Profile)
GateAction = Literal["record", "deny", "hold", "handback", "allow"]
Cell = Literal[
    "record",
    "deny",
    "hold",
    "handback",
    "hold-if-unasked",
    "hold-if-autonomous",
    "allow-if-configured",
]
Says = Literal["deny", "grave", "unread", "no-rule", "lasting", "ask", "ordinary", "allow"]


class ProfileRow(msgspec.Struct, frozen=True):
    """One row of the table: a kind of assessment, and the gate's action in each profile."""

    says: Says
    title: str
    watch: Cell
    guard: Cell
    strict: Cell

    def cell(self, profile: Profile) -> Cell:
        """Returns the entry of one profile."""
        match profile:
            case "watch":
                return self.watch
            case "guard":
                return self.guard
            case "strict":
                return self.strict


TABLE = (
    ProfileRow("deny", "deny rule", "record", "deny", "deny"),
    ProfileRow("grave", "high, critical", "record", "hold", "hold"),
    ProfileRow("unread", "ask, unknown", "record", "hold-if-unasked", "hold"),
    ProfileRow("no-rule", "ask, no rule", "record", "hold-if-autonomous", "hold"),
    ProfileRow("lasting", "ask, lasting", "record", "hold-if-autonomous", "hold"),
    ProfileRow("ask", "ask, medium or low", "record", "handback", "hold"),
    ProfileRow("ordinary", "ask, ordinary work", "record", "handback", "handback"),
    ProfileRow("allow", "allow rule", "record", "allow-if-configured", "allow-if-configured"),
)


def table(profile: Profile, *, auto_allow: bool = False) -> tuple[tuple[str, Cell], ...]:
    """Returns the table's rows for one profile, as (kind of assessment, action of the gate)."""
    return tuple((row.title, _configured(row.cell(profile), auto_allow)) for row in TABLE)


def gate_action(
    profile: Profile,
    assessment: Assessment,
    *,
    autonomous: bool,
    runs_unasked: bool = False,
    auto_allow: bool = False,
) -> GateAction:
    """Decides what the gate does with an assessment in a profile.

    Args:
        profile: The profile in force.
        assessment: The policy's assessment of the call.
        autonomous: Whether nobody sits in front of the agent.
        runs_unasked: Whether a call that is handed back may run without anybody being asked: the
            agent does not report its mode, or the mode runs such calls.
        auto_allow: Whether the allow of a rule is given to the agent as an allow.
    """
    says = _says(assessment)
    cell = next(row for row in TABLE if row.says == says).cell(profile)
    match cell:
        case "hold-if-unasked":
            return "hold" if autonomous or runs_unasked else "handback"
        case "hold-if-autonomous":
            return "hold" if autonomous else "handback"
        case "allow-if-configured":
            return "allow" if auto_allow else "handback"
        case _:
            return cell


class Held(msgspec.Struct, frozen=True):
    """Flags of the profiles under which a call waits for an operator, or is denied."""

    guard: bool
    guard_unattended: bool
    strict: bool


def held_profiles(assessment: Assessment) -> Held:
    """Looks an assessment up in the profiles that hold something."""
    return Held(
        guard=_stops("guard", assessment, autonomous=False),
        guard_unattended=_stops("guard", assessment, autonomous=True),
        strict=_stops("strict", assessment, autonomous=False),
    )


def _stops(profile: Profile, assessment: Assessment, *, autonomous: bool) -> bool:
    return gate_action(profile, assessment, autonomous=autonomous) in ("hold", "deny")


def _configured(cell: Cell, auto_allow: bool) -> Cell:
    if cell != "allow-if-configured":
        return cell
    return "allow-if-configured" if auto_allow else "handback"


def _says(assessment: Assessment) -> Says:
    if assessment.decision == "deny":
        return "deny"
    if assessment.risk in ("high", "critical"):
        return "grave"
    if assessment.opaque or assessment.risk == "unknown":
        return "unread"
    if any(finding.rule == NO_RULE for finding in assessment.findings):
        return "no-rule"
    effects = {finding.effect for finding in assessment.findings if finding.decision == "ask"}
    if "lasting" in effects:
        return "lasting"
    if effects == {"ordinary"}:
        return "ordinary"
    return "allow" if assessment.decision == "allow" else "ask"
