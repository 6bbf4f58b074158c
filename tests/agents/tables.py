"""A table of an imaginary agent, and payloads of its events."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import Intake
from watchgate.agents.hooks import gate, observed, relay
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane

DENY: Final = HookOutput(stdout={"verdict": "no", "why": "{reason}"}, stderr="{reason}", exit=2)
TABLE: Final = Table(
    name="hal",
    title="HAL",
    fields=Fields(
        event=("type",),
        session=("ship.id", "ship.name"),
        cwd=("roots.0",),
        turn=("turn",),
        sub_id=("pod",),
        sub_type=("pod_kind",),
        tool=("call.name",),
        input=("call.args",),
        call_id=("call.id",),
        result=("out",),
        failed=("fault.text",),
        exit_code=("status",),
    ),
    events={
        "before": EventRule(
            kind="tool.pre",
            answers=EventAnswers(
                deny=DENY,
                allow=HookOutput(stdout={"verdict": "yes", "note": "{context}"}),
                modify=HookOutput(
                    stdout={"verdict": "yes", "args": "{input}", "note": "{context}"}
                ),
                stop=HookOutput(stdout={"verdict": "halt", "why": "{reason}"}, exit=2),
                context=HookOutput(stdout={"on": "{event}", "note": "{context}"}),
            ),
        ),
        "asks": EventRule(kind="tool.permission", every_call=True, answers=EventAnswers(deny=DENY)),
        "shell": EventRule(
            kind="tool.pre",
            tool="sh",
            input={"command": "run.line", "cwd": "run.where"},
            answers=EventAnswers(deny=HookOutput(stderr="{reason}", exit=2)),
        ),
        "remote": EventRule(
            kind="tool.pre",
            tool="mcp__{info.server}__{info.tool}",
            fields=Fields(input=("info.args",)),
            answers=EventAnswers(deny=DENY),
        ),
        "after": EventRule(kind="tool.post"),
        "broke": EventRule(kind="tool.error"),
        "several": EventRule(kind="tool.batch", fields=Fields(tool=("name",), input=("args",))),
        "said": EventRule(kind="prompt.submit", text=("who", "words")),
        "began": EventRule(kind="session.start", what="{how}", text=("note",)),
        "spent": EventRule(
            kind="usage",
            usage={
                "input": ("tokens.in",),
                "output": ("tokens.out",),
                "reasoning": ("tokens.thought",),
            },
            reasoning_beside=True,
        ),
        "form": EventRule(kind="question"),
        "idle": EventRule(kind="notice"),
    },
    classes={"sh": "shell", "peek": "read", "ask_human": "question", "show_plan": "plan"},
    names={"peek": "Read"},
    mcp=("mcp__{server}__{tool}", "@{server}/{tool}", "MCP:{tool}"),
    modes=Modes(autonomous=("alone", "wild"), unasked=("wild",)),
    hooks=(gate("before"), gate("shell", "^sh$"), relay("asks", timeout_s=60), *observed("after")),
)
HAL: Final = TableAdapter(TABLE)


def decoded(type_: str, /, lane: Lane = Lane.GATE, **fields: Any) -> Event:
    """The event that HAL's payload of this type means."""
    payload = {"type": type_, "ship": {"id": "s-1"}, "roots": ["/ship"], **fields}
    return HAL.decode(msgspec.json.encode(payload), intake(lane))


def intake(lane: Lane = Lane.GATE, native: str = "") -> Intake:
    """What a frame's header says."""
    return Intake(lane=lane, at=Instant(1_795_000_000_000_000, 12.5), native=native, deadline_s=9.0)
