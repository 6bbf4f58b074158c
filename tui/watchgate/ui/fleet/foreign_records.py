"""Validation of another machine's core: a broken or hostile one harms only itself.

Names and times are the business of `host_names`; here it is whether a picture can be made of it at
all. A record with nothing readable about a call, a request or a gate is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec.structs import replace

from watchgate.core.base import decoding
from watchgate.core.base.decoding import DEEPEST, too_deep
from watchgate.core.model.records import (
    COUNTED,
    EffectData,
    EscalatedData,
    FactsData,
    Record,
    RequestData,
    TamperedData,
    TraceData,
)
from watchgate.core.model.standing_grant import GrantUsedData, GrantView
from watchgate.core.model.usage_records import CountedData, Limit
from watchgate.core.presence.attempts import AttemptData
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Snapshot

Picture = TypeVar("Picture", bound=Snapshot)

REQUESTS_MAX = 5_000
"""Requests of one machine: nobody decides more, and they would slow what the others ask."""

LARGEST = 2**60
"""The range of a count, an amount or a time (µs)."""

NAME_CHARS = 1_000
WHY_CHARS = 1_000
TEXT_CHARS = 64 * 1024
"""Characters of a session or a call: to measure the width of much more takes too long."""

ANSWER_DEEPEST = DEEPEST + 8
"""A record of a call, in a list of them: its input may be as deep as inputs are."""


class _Tool(msgspec.Struct, frozen=True, gc=False):
    name: Annotated[str, msgspec.Meta(max_length=NAME_CHARS)]


class _Sub(msgspec.Struct, frozen=True, gc=False):
    type: str = ""


class _ForeignCall(msgspec.Struct, frozen=True, gc=False):
    tool: _Tool
    summary: str
    gate: str
    lane: str
    word: str | None = None
    sub: _Sub | None = None


class _Result(msgspec.Struct, frozen=True, gc=False):
    tool: _Tool
    summary: str
    ok: bool
    took_ms: int | None = None


class _End(msgspec.Struct, frozen=True, gc=False):
    word: str
    by: str
    waited_s: float
    scope: str = "once"
    reason: str = ""


class _Word(msgspec.Struct, frozen=True, gc=False):
    word: str
    alarm: str = ""


class _Why(msgspec.Struct, frozen=True, gc=False):
    why: str
    until: int = 0
    alarm: bool = True


class _Deadline(msgspec.Struct, frozen=True, gc=False):
    deadline_at: int


class _Over(msgspec.Struct, frozen=True, gc=False):
    grant: str


class _Gate(msgspec.Struct, frozen=True, gc=False):
    detail: str = ""
    until: int = 0
    name: str = ""
    profile: str | None = None


class _Used(msgspec.Struct, frozen=True, gc=False):
    total_cost_usd: float | None = None
    limits: tuple[Limit, ...] = ()


# What is read of each kind; a later version may tell more, and words that are not known here.
_READ: dict[str, Any] = {
    "tool.pre": _ForeignCall,
    "tool.permission": _ForeignCall,
    "tool.post": _Result,
    "tool.error": _Result,
    "usage": _Used,
    COUNTED: CountedData,
    "hook.trace": TraceData,
    "approval.requested": RequestData,
    "approval.facts": FactsData,
    "approval.extended": _Deadline,
    "approval.escalated": EscalatedData,
    "approval.decided": _End,
    "effect.undelivered": _Word,
    "effect.contradicted": _Word,
    "effect.refused": EffectData,
    "effect.ungated": _Why,
    "policy.ungated": _Why,
    "policy.inferred": _Why,
    "policy.paused": _Why,
    "policy.started": _Gate,
    "policy.profile": _Gate,
    "policy.off": _Gate,
    "policy.on": _Gate,
    "policy.journal": _Gate,
    "policy.changed": _Gate,
    "policy.broken": _Gate,
    "policy.reloaded": _Gate,
    "policy.fault": _Gate,
    "policy.tampered": TamperedData,
    "policy.intact": TamperedData,
    "policy.refused": AttemptData,
    "grant.given": GrantView,
    "grant.kept": GrantView,
    "grant.used": GrantUsedData,
    "grant.revoked": _Over,
    "grant.expired": _Over,
}
# It refuses numbers of more than 64 bits, which no sum, average or date can be made of.
_BOUNDED = msgspec.msgpack.Encoder()


def readable(record: Record) -> bool:
    """Returns whether a record can be shown."""
    names = (record.agent, record.session, record.call, record.sub, record.request)
    if any(len(name) > NAME_CHARS for name in names if name):
        return False
    kind = _READ.get(record.kind)
    if kind is None:
        return True  # nothing is read of it but whose it is
    try:
        data = decoding.convert(record.data, kind)
        if isinstance(data, RequestData):
            return _askable(data)
        _BOUNDED.encode(data)
    except (msgspec.ValidationError, OverflowError, RecursionError):
        return False
    return True


def cut_reason(text: str) -> str:
    """Cuts a core's words about itself: they are drawn again and again."""
    return text[:WHY_CHARS]


def checked(snapshot: Picture) -> Picture:
    """A first picture that can be shown; raises `CoreLost` for one that cannot."""
    if len(snapshot.pending) > REQUESTS_MAX:
        raise asks_too_much()
    if not all(_askable(view.data) for view in snapshot.pending):
        raise CoreLost("its snapshot cannot be read (a request in it cannot be shown)")
    views = (*snapshot.sessions, *snapshot.rows)
    if any(len(text) > TEXT_CHARS for each in views for text in _texts(each)):
        raise CoreLost("its snapshot cannot be read (a name in it has no end)")
    if any(len(text) > NAME_CHARS for pair in snapshot.titles.items() for text in pair):
        raise CoreLost("its snapshot cannot be read (the title of an agent in it has no end)")
    # All that is left are counts, money, and times by its own clock.
    if not _measured(msgspec.to_builtins(replace(snapshot, now=0, pending=()))):
        raise CoreLost("its snapshot cannot be read (a number in it is none of anything)")
    return snapshot


def _askable(data: RequestData) -> bool:
    """Returns whether a request can be shown; its input may hold any number."""
    plain = replace(data, tool=replace(data.tool, input={}), before=None)
    try:
        _BOUNDED.encode(plain)
    except OverflowError:
        return False
    inputs = (data.tool.input, data.before or {})
    return len(data.tool.name) <= NAME_CHARS and not any(map(too_deep, inputs))


def _texts(each: msgspec.Struct) -> Iterator[str]:
    return (value for value in msgspec.structs.astuple(each) if isinstance(value, str))


def _measured(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_measured, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_measured, value))
    return not isinstance(value, int | float) or -LARGEST <= value <= LARGEST


def within(answer: Mapping[str, Any]) -> None:
    """Raises `ValueError` for an answer that cannot be shown."""
    if too_deep(dict(answer), ANSWER_DEEPEST):
        raise ValueError("nested too deeply")


def asks_too_much() -> CoreLost:
    """Says why a machine that asks without end is left."""
    return CoreLost(f"it has more than {REQUESTS_MAX:,} open requests")
