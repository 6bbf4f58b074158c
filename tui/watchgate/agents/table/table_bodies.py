"""Builders of event bodies from the places that a table gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.agents.base import DecodeError
from watchgate.agents.hooks.event_bodies import asks_there, own_refusal, response_text, text
from watchgate.agents.table import EventRule, Fields
from watchgate.agents.table.payload_values import (
    Tools,
    compile_places,
    input_of,
    placeholders,
    text_template,
    value_at,
)
from watchgate.core.model.events import (
    Body,
    SessionChange,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolResult,
    Usage,
)

Payload = dict[str, Any]
Reader = Callable[[Payload], Body]

NAME_LIMIT, FOLDER_LIMIT = 512, 8_192
_CALLS = ("tool.pre", "tool.permission", "tool.permission.resolved")
_RESULTS = ("tool.post", "tool.error")
_CHANGES = ("session.start", "session.end", "session.change", "compact.pre", "compact.post")
_COUNTS = tuple(
    """input output cache_read cache_write reasoning total context_used context_size""".split()
)
_STATUS = re.compile(r"-?\d{1,10}")
_ALWAYS_COMMON = frozenset(("timestamp", "effort"))


def body_reader(native: str, rule: EventRule, fields: Fields, tools: Tools) -> Reader:
    """Returns the reader of one event's payloads."""
    if rule.usage:
        return _usage(rule, fields)
    if rule.kind in _CALLS:
        return _call(rule, fields, tools)
    if rule.kind == "question":
        return _question(native, rule, fields, tools)
    if rule.kind in _RESULTS:
        return _result(rule, fields, tools)
    if rule.kind == "tool.batch":
        return _batch(fields, tools)
    if rule.what or rule.kind in _CHANGES:
        return _change(native, rule, fields)
    return _words(rule, fields)


def text_at(payload: Payload, places: tuple[tuple[str | int, ...], ...], limit: int) -> str:
    """Returns the text at the first place that has one; a number counts, anything else is none."""
    value = value_at(payload, places)
    if isinstance(value, str):
        if len(value) > limit:
            raise DecodeError(f"a name of over {limit} characters")
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def own_fields(fields: Fields) -> Callable[[Payload], Payload]:
    """Returns a function that picks a payload's fields beyond those that every event has."""
    common_places = (
        *(fields.event, fields.session, fields.cwd, fields.turn, fields.mode, fields.model),
        *(fields.transcript, fields.sub_id, fields.sub_type),
    )
    common = _ALWAYS_COMMON | {
        place.partition(".")[0] for places in common_places for place in places
    }
    return lambda payload: {key: value for key, value in payload.items() if key not in common}


def _tool(rule: EventRule, fields: Fields, tools: Tools) -> Callable[[Payload], Tool]:
    named = text_template(rule.tool) if rule.tool else None
    missing = " or ".join(placeholders(rule.tool) if rule.tool else fields.tool)
    tool, call_id, args = (
        compile_places(fields.tool),
        compile_places(fields.call_id),
        _input(rule, fields),
    )

    def build(payload: Payload) -> Tool:
        which = named(payload) if named else text_at(payload, tool, NAME_LIMIT)
        if not which:
            raise DecodeError(f"the payload does not name its tool ({missing})")
        if len(which) > NAME_LIMIT:
            raise DecodeError(f"a name of over {NAME_LIMIT} characters")
        return tools.tool(which, args(payload), text_at(payload, call_id, NAME_LIMIT) or None)

    return build


def _input(rule: EventRule, fields: Fields) -> Callable[[Payload], Payload]:
    if not rule.input:
        places = compile_places(fields.input)
        return lambda payload: input_of(value_at(payload, places))
    gathered = {key: compile_places((place,)) for key, place in rule.input.items()}
    rest = own_fields(fields)

    def gather(payload: Payload) -> Payload:
        values = {key: value_at(payload, places) for key, places in gathered.items()}
        present = {key: value for key, value in values.items() if value is not None}
        # Found nothing where the call's input should be: then it is somewhere else in there.
        return present or rest(payload)

    return gather


def _call(rule: EventRule, fields: Fields, tools: Tools) -> Reader:
    tool = _tool(rule, fields, tools)
    if rule.kind != "tool.permission.resolved":
        return lambda payload: ToolCall(tool(payload))
    reason = _joined(rule)
    return lambda payload: ToolCall(tool(payload), why=own_refusal(reason(payload)))


def _question(native: str, rule: EventRule, fields: Fields, tools: Tools) -> Reader:
    places, rest = compile_places(fields.tool), own_fields(fields)
    own = _tool(rule, fields, tools)
    asked = _input(rule, fields) if rule.input else rest

    def build(payload: Payload) -> Body:
        if rule.tool or value_at(payload, places) is not None:
            return ToolCall(own(payload))
        tool = tools.tool(native, asked(payload), None)
        return ToolCall(msgspec.structs.replace(tool, cls="question"))

    return build


def _result(rule: EventRule, fields: Fields, tools: Tools) -> Reader:
    tool = _tool(rule, fields, tools)
    result, failed, took = map(compile_places, (fields.result, fields.failed, fields.took_ms))
    interrupted, exit_code = compile_places(fields.interrupted), _exit_code(fields)

    def build(payload: Payload) -> Body:
        why = value_at(payload, failed) or None
        output = value_at(payload, result) if why is None else why
        called = tool(payload)
        return ToolResult(
            called,
            ok=why is None and rule.kind != "tool.error",
            text=response_text(output),
            took_ms=_whole(value_at(payload, took)),
            interrupted=value_at(payload, interrupted) is True,
            exit_code=exit_code(payload, called, output),
        )

    return build


def _exit_code(fields: Fields) -> Callable[[Payload, Tool, Any], int | None]:
    """Reads the exit status where a payload has it, else the last that a shell's words name."""
    place = compile_places(fields.exit_code)
    pattern = re.compile(fields.exit_pattern) if fields.exit_pattern else None

    def read(payload: Payload, tool: Tool, output: Any) -> int | None:
        code = _whole(value_at(payload, place))
        if code is None and pattern is not None and tool.cls == "shell":
            statuses = pattern.findall(output if isinstance(output, str) else response_text(output))
            code = int(statuses[-1]) if statuses and _STATUS.fullmatch(statuses[-1]) else None
        return code

    return read


def _batch(fields: Fields, tools: Tools) -> Reader:
    calls = compile_places(fields.calls)
    one = _tool(EventRule(kind="tool.batch"), fields, tools)

    def build(payload: Payload) -> Body:
        each = value_at(payload, calls)
        if not isinstance(each, list):
            raise DecodeError(f"the payload lists no calls ({' or '.join(fields.calls)})")
        return ToolBatch(tuple(one(call) for call in each if isinstance(call, dict)))

    return build


def _change(native: str, rule: EventRule, fields: Fields) -> Reader:
    what = text_template(rule.what)
    model, transcript = compile_places(fields.model), compile_places(fields.transcript)
    details = _joined(rule)

    def build(payload: Payload) -> Body:
        which, path = value_at(payload, model), value_at(payload, transcript)
        return SessionChange(
            what=what(payload) or native,
            detail=details(payload),
            model=which if isinstance(which, str) else None,
            transcript=path if isinstance(path, str) else None,
        )

    return build


def _words(rule: EventRule, fields: Fields) -> Reader:
    if rule.text:
        words = _joined(rule)
        return lambda payload: Text(words(payload), asks_there(payload.get("notification_type")))
    rest = own_fields(fields)
    return lambda payload: Text(text(own) if (own := rest(payload)) else "")


def _joined(rule: EventRule) -> Callable[[Payload], str]:
    places = [compile_places((place,)) for place in rule.text]
    return lambda payload: ": ".join(
        part for each in places if (part := text(value_at(payload, each)))
    )


def _usage(rule: EventRule, fields: Fields) -> Reader:
    counts = {key: compile_places(rule.usage.get(key, ())) for key in _COUNTS}
    cost = compile_places(rule.usage.get("total_cost_usd", ()))
    model = compile_places(rule.usage.get("model", fields.model))
    ref = compile_places(rule.usage.get("ref", ()))

    def build(payload: Payload) -> Body:
        which, usd, of = value_at(payload, model), value_at(payload, cost), value_at(payload, ref)
        token_counts: dict[str, Any] = {
            key: _whole(value_at(payload, places)) for key, places in counts.items()
        }
        if rule.reasoning_beside and token_counts["reasoning"]:
            token_counts["output"] = (token_counts["output"] or 0) + token_counts["reasoning"]
        return Usage(
            **token_counts,
            total_cost_usd=float(usd) if _is_number(usd) else None,
            model=which if isinstance(which, str) else None,
            counts=rule.counts,
            cached_within=rule.cached_within,
            ref=of if isinstance(of, str) else "",
        )

    return build


def _whole(value: Any) -> int | None:
    return round(value) if _is_number(value) else None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Nothing that is counted here has more digits, and a record holds 64 bits.
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 1 << 62
