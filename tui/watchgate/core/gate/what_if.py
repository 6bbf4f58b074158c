"""Recorded calls, judged by another policy: what if it had been in force?

Each recorded call is judged again as it came, and compared with what was done with it then. Left
out, and counted, are calls whose input was not kept whole and calls that something else than the
policy's rules decided: a handler, a fault, a denial before, a budget that was used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import RAISING
from watchgate.core.model.events import Can, Event, Lane, ToolCall
from watchgate.core.model.records import CallData, Gate, Record
from watchgate.core.model.verdicts import Allow, Block, Confirm
from watchgate.core.tools.tool_input import input_hash
from watchgate.core.usage.budget import RULE as BUDGET

Does = Literal["record", "deny", "hold", "handback", "allow"]

_CALLS = frozenset(("tool.pre", "tool.permission"))
_DID: dict[Gate, Does] = {
    "held": "hold",
    "carried": "hold",
    "joined": "hold",
    "allowed": "hold",
    "denied": "deny",
    "handback": "handback",
    "recorded": "record",
}
_SAME_AS: dict[Does, frozenset[Does]] = {
    # A call that was only looked at went on, as one does that is handed back.
    "record": frozenset(("record", "handback", "allow")),
}


class Treatment(msgspec.Struct, frozen=True):
    """The treatment of a call, with the rule and risk behind it."""

    does: Does
    risk: str
    rule: str
    reason: str


class Change(msgspec.Struct, frozen=True):
    """One call that would be treated otherwise; `ended` is the outcome of its request."""

    record: Record
    call: CallData
    was: Treatment
    would: Treatment
    ended: str = ""


class WhatIf(msgspec.Struct, frozen=True):
    """All changes, with counts of calls judged, not kept whole, and not decided by rules."""

    changes: tuple[Change, ...]
    judged: int
    not_kept: int
    not_rules: int


def what_if(
    records: Iterable[Record],
    gate: PolicyGate,
    also: Callable[[Record, CallData], None] = lambda _record, _call: None,
) -> WhatIf:
    """Judges every recorded call again; `gate` has the policy, and no memory of other calls.

    `also` is given each call that is judged.
    """
    changes: list[Change] = []
    ended: dict[str, str] = {}
    judged = not_kept = not_rules = 0
    for record in records:
        if record.kind == "approval.decided" and record.request:
            ended[record.request] = str(record.data.get("word", ""))
        if record.kind not in _CALLS:
            continue
        call = _call(record)
        if call is None or input_hash(call.tool.input, call.tool.cls) != call.tool.input_hash:
            not_kept += 1
            continue
        did = _did(call)
        if did is None:
            not_rules += 1
            continue
        judged += 1
        also(record, call)
        was = Treatment(did, call.risk, call.rule, call.reason)
        would = _would(_event(record, call, did), gate)
        if would.does not in _SAME_AS.get(did, {did}) and not _allowed_both_times(call, would):
            changes.append(Change(record, call, was, would))
    named = (
        msgspec.structs.replace(each, ended=ended.get(each.record.request or "", ""))
        for each in changes
    )
    return WhatIf(tuple(named), judged, not_kept, not_rules)


def _call(record: Record) -> CallData | None:
    try:
        return decoding.convert(record.data, CallData)
    except msgspec.ValidationError:
        return None


def _did(call: CallData) -> Does | None:
    """Returns the policy's treatment of the call then; None when something else decided."""
    if call.rule.startswith("handler ") or call.rule in (*RAISING, BUDGET):
        return None
    if call.word not in (None, "denied-by-rule"):
        return None
    return _DID.get(call.gate)


def _event(record: Record, call: CallData, did: Does) -> Event:
    lane = Lane(call.lane)
    return Event(
        kind="tool.permission" if record.kind == "tool.permission" else "tool.pre",
        native=call.native,
        agent=record.agent or "",
        session=record.session or "",
        # What was only looked at is judged as if it had been asked about.
        lane=Lane.GATE if lane is Lane.OBSERVE else lane,
        at=Instant(record.at, 0.0),
        body=ToolCall(call.tool),
        cwd=call.cwd,
        mode=call.mode,
        autonomous=call.autonomous,
        can=Can(allow=call.gate == "allowed"),
        # A permission event is only ever handed back where the agent sends one for every call.
        asks_every_call=record.kind == "tool.permission" and did == "handback",
    )


def _would(event: Event, gate: PolicyGate) -> Treatment:
    assessment = gate.assess(event)
    risk, rule, reason = (
        (assessment.risk, assessment.rule, assessment.reason) if assessment else ("unknown", "", "")
    )
    return Treatment(_does(event, gate), risk, rule, reason)


def _does(event: Event, gate: PolicyGate) -> Does:
    verdict = gate(event)
    if gate.profile == "watch":
        return "record"
    match verdict:
        case Block():
            return "deny"
        case Confirm():
            return "hold"
        case Allow():
            return "allow"
        case _:
            return "handback"


def _allowed_both_times(call: CallData, would: Treatment) -> bool:
    """Returns whether the call was allowed and would be: by a grant or, if set, by a rule."""
    return call.gate == "allowed" and would.does == "allow"
