"""The shape of a record's data by its kind: data from a file is held against it."""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.assessment import Risk
from watchgate.core.model.events import Kind
from watchgate.core.model.records import (
    BudgetData,
    CallData,
    DeadlineData,
    DecisionData,
    EffectData,
    EscalatedData,
    FactsData,
    NoteData,
    Record,
    RequestData,
    ResultData,
    TamperedData,
    TraceData,
    UngatedData,
    UsageData,
)
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.usage_records import CountedData
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.presence.attempts import AttemptData

LARGEST: Final = 2**53
"""No time (UTC µs) and no number of ours is as large: what is cannot be told or added up."""

_OTHERS: Final = ("input", "before")
"""What an agent said; it may hold any number."""


class _CallShape(CallData, frozen=True, kw_only=True):
    risk: Risk = "unknown"


class _Started(msgspec.Struct, frozen=True):
    profile: Profile = "guard"


class _GateShape(msgspec.Struct, frozen=True):
    until: int = 0
    name: str = ""
    detail: str = ""
    tier: str = ""


class _UsedShape(msgspec.Struct, frozen=True):
    grant: str
    hits: int
    used_at: int
    until_at: int | None


_SHAPES: Final[dict[str, Any]] = {
    **dict.fromkeys(get_args(Kind), NoteData),
    **dict.fromkeys(("tool.post", "tool.error"), ResultData),
    "usage": UsageData,
    "usage.counted": CountedData,
    "policy.budget": BudgetData,
    "hook.trace": TraceData,
    "approval.requested": RequestData,
    "approval.facts": FactsData,
    "approval.decided": DecisionData,
    **dict.fromkeys(("approval.extended", "approval.timeout"), DeadlineData),
    "approval.escalated": EscalatedData,
    **dict.fromkeys(("effect.sent", "effect.undelivered"), EffectData),
    **dict.fromkeys(("effect.confirmed", "effect.contradicted", "effect.refused"), EffectData),
    **dict.fromkeys(("effect.ungated", "policy.ungated"), UngatedData),
    **dict.fromkeys(("policy.tampered", "policy.intact"), TamperedData),
    "policy.refused": AttemptData,
    **dict.fromkeys(("policy.off", "policy.on", "policy.journal", "policy.changed"), _GateShape),
    **dict.fromkeys(("policy.broken", "policy.reloaded", "policy.fault"), _GateShape),
    **dict.fromkeys(("policy.started", "policy.profile"), _Started),
    **dict.fromkeys(("grant.given", "grant.kept"), GrantView),
    "grant.used": _UsedShape,
}


def misshapen(record: Record) -> str:
    """Return the part of a record that no reader could use; empty where there is none.

    A record that lost its data to a purge has none to be wrong.
    """
    if not 0 <= record.at < LARGEST:
        return f"no clock tells its time, {record.at}"
    if _too_large(record.data):
        return "a number in it is too large for anything that is recorded"
    shape = _CallShape if "gate" in record.data else _SHAPES.get(record.kind)
    if shape is None or not record.data:
        return ""
    try:
        decoding.convert(record.data, shape)
    except (msgspec.ValidationError, ValueError) as fault:
        return f"that is not the data of {record.kind}: {fault}"
    return ""


def _too_large(data: Any) -> bool:
    match data:
        case dict():
            return any(_too_large(value) for name, value in data.items() if name not in _OTHERS)
        case list():
            return any(map(_too_large, data))
        case int() | float():
            return not -LARGEST < data < LARGEST
    return False
