"""Decides a whole recording again, and compares the outcomes that can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from watchgate.core.records import CallData, RequestData, TraceData
from watchgate.core.verdicts import TraceRow

_SPAN_OF_TIME: Final = re.compile(r"\b\d+(?:\.\d+)? ?(ms|s|min|h)\b")
_ROW: Final = ("handler", "role", "kind", "status", "why", "verdict", "detail", "ignored", "times")


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of one event; `word` is how its request ended, or why there was none.

    `findings` and `trace` are plain objects, without anything that tells a time.
    """

    gate: str = ""
    word: str | None = None
    risk: str = ""
    rule: str = ""
    reason: str = ""
    findings: list[dict[str, Any]] = []
    trace: dict[str, Any] | None = None


def outcome(
    call: CallData | None,
    asked: RequestData | None,
    word: str | None,
    trace: TraceData | None,
) -> Outcome:
    """Builds the outcome that these records report."""
    trace_fields = None if trace is None else _trace(trace)
    if call is None:
        return Outcome(trace=trace_fields)
    held = call.gate == "held"
    return Outcome(
        gate=call.gate,
        word=word if held else call.word,
        risk=call.risk,
        rule=call.rule,
        reason=_timeless(call.reason),
        findings=[_plain(each) for each in asked.findings] if held and asked is not None else [],
        trace=trace_fields,
    )


def differing(recorded: Outcome, again: Outcome) -> tuple[str, ...]:
    """Returns the names of the fields in which two outcomes differ.

    Where the recording ends before a request or a trace did, nothing can differ from it.
    """
    unended = recorded.gate == again.gate == "held" and recorded.word is None
    skipped = {"word"} if unended else set()
    skipped |= {"trace"} if recorded.trace is None else set()
    return tuple(
        name
        for name in Outcome.__struct_fields__
        if name not in skipped and getattr(recorded, name) != getattr(again, name)
    )


def shown(outcome: Outcome, differs: tuple[str, ...]) -> dict[str, Any]:
    """Returns the outcome to print: its long parts only where they differ."""
    long = {"findings", "trace"} - set(differs)
    fields: dict[str, Any] = msgspec.to_builtins(outcome)
    return {name: value for name, value in fields.items() if name not in long}


def _trace(trace: TraceData) -> dict[str, Any]:
    return {
        "decision": trace.decision,
        "decided_by": trace.decided_by,
        "reason": _timeless(trace.reason),
        "effect": trace.effect,
        "rows": [_row(each) for each in trace.rows],
    }


def _row(row: TraceRow) -> dict[str, Any]:
    columns = {name: getattr(row, name) for name in _ROW}
    return {**columns, "detail": _timeless(row.detail)}


def _plain(finding: Any) -> dict[str, Any]:
    fields: Mapping[str, Any] = msgspec.to_builtins(finding)
    return {**fields, "reason": _timeless(str(fields["reason"]))}


def _timeless(text: str) -> str:
    """Returns the text with each span of time made equal: a retry says how long ago it was."""
    return _SPAN_OF_TIME.sub(r"N \1", text)
