"""Sample payloads of an agent: the meaning of each to its adapter, and the answers to it.

A line is a payload, or `{"payload": {...}}` with beside it `event` (its name, where the payload has
none), `lane`, and `expected`: whatever of `SampleMeaning` must be so. Each line is answered with
the reason `REASON`, and rewritten to the input that it has.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import Adapter, DecodeError, Intake
from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Kind, Lane, ToolClass
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing

REASON = "No."
_NEVER = Instant(0, 0.0)


class SampleError(ValueError):
    """The line is no sample, or the adapter cannot read it; the message says why."""


class SampleOutput(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The output of the agent's hook: `stdout` and `stderr` as text, and the exit status."""

    stdout: str = ""
    stderr: str = ""
    exit: int = 0


class SampleMeaning(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The meaning of one sample and, on a lane that waits, the agent's possible answers.

    `closed` is what a gate's client prints by itself when the core cannot be reached.
    """

    event: str
    kind: Kind
    lane: Lane
    session: str
    tool: str = ""
    native_tool: str = ""
    cls: ToolClass | None = msgspec.field(default=None, name="class")
    input: dict[str, Any] | None = None
    cwd: str = ""
    allow: SampleOutput | None = None
    deny: SampleOutput | None = None
    modify: SampleOutput | None = None
    handback: SampleOutput | None = None
    closed: SampleOutput | None = None


class _SampleLine(msgspec.Struct, frozen=True):
    payload: dict[str, Any]
    event: str = ""
    lane: Lane | None = None
    expected: dict[str, Any] = {}


_EXPECTABLE = tuple(field.encode_name for field in msgspec.structs.fields(SampleMeaning))


def check_sample(adapter: Adapter, line: bytes) -> tuple[SampleMeaning, list[str]]:
    """Returns a sample's meaning and its differences from the expected; raises `SampleError`."""
    sample, raw = _sample(line)
    try:
        event = _decoded(adapter, sample, raw)
    except DecodeError as fault:
        raise SampleError(str(fault)) from None
    tool = event.tool
    meaning = SampleMeaning(
        event=event.native,
        kind=event.kind,
        lane=event.lane,
        session=event.session,
        tool=tool.name if tool else "",
        native_tool=tool.native_name if tool else "",
        cls=tool.cls if tool else None,
        input=tool.input if tool else None,
        cwd=event.cwd,
        **(_outputs(adapter, event) if event.lane.waits else {}),
    )
    shown = dict.fromkeys(_EXPECTABLE) | msgspec.to_builtins(meaning)
    return meaning, [
        f"{key} is {_json(shown[key])}, expected {_json(value)}"
        for key, value in sample.expected.items()
        if value != shown[key]
    ]


def _sample(line: bytes) -> tuple[_SampleLine, bytes]:
    try:
        value = msgspec.json.decode(line)
        if not isinstance(value, dict):
            raise SampleError("a sample is a JSON object: a payload, or one under `payload`")
        if not isinstance(value.get("payload"), dict):
            return _SampleLine(payload=value), line
        sample = decoding.convert(value, _SampleLine)
    except decoding.JSON_FAULTS as fault:
        raise SampleError(f"no sample: {fault}") from None
    if unknown := [key for key in sample.expected if key not in _EXPECTABLE]:
        raise SampleError(
            f"nothing called {', '.join(unknown)} can be expected; use {', '.join(_EXPECTABLE)}"
        )
    return sample, msgspec.json.encode(sample.payload)


def _decoded(adapter: Adapter, sample: _SampleLine, raw: bytes) -> Event:
    """Returns the event on the lane that the sample names, else on that of the installed hook."""
    intake = Intake(lane=Lane.OBSERVE, at=_NEVER, native=sample.event)
    native = adapter.decode(raw, intake).native
    lanes = (entry.lane for entry in adapter.entries("guard") if entry.event == native)
    lane = sample.lane or next((lane for lane in lanes if lane.waits), Lane.OBSERVE)
    return adapter.decode(raw, msgspec.structs.replace(intake, lane=lane))


def _outputs(adapter: Adapter, event: Event) -> dict[str, SampleOutput]:
    answers = {
        "allow": adapter.answer(event, SayAllow()),
        "deny": adapter.answer(event, SayDeny(REASON)),
        "handback": adapter.answer(event, SayNothing()),
    }
    if event.tool is not None:
        answers["modify"] = adapter.answer(event, SayAllow(input=event.tool.input))
    if event.lane is Lane.GATE:
        answers["closed"] = adapter.closed(event.native, event.lane, REASON)
    return {
        word: SampleOutput(answer.stdout.decode(), answer.stderr.decode(), answer.exit_code)
        for word, answer in answers.items()
    }


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
