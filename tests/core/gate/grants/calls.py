"""Calls as the policy judged them, for the tests of grants."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.core.builders import START, pre, shell
from watchgate.core.base.ids import digest
from watchgate.core.model.assessment import NO_RULE, Assessment, Decision, Finding, Risk, Segment
from watchgate.core.model.events import Event, Tool
from watchgate.core.model.records import RequestData
from watchgate.core.model.requests import ApprovalRequest, Settlement, Status
from watchgate.core.model.standing_grant import GrantRule, Width
from watchgate.core.tools.tool_input import subject_digest

FOLDER = "/home/u/app"


def finding(rule: str = NO_RULE, risk: Risk = "medium", **more: Any) -> Finding:
    return Finding(rule, "because", risk, **{"segment": 1, **more})


def segments(*commands: str, **more: Any) -> tuple[Segment, ...]:
    return tuple(
        Segment(number, (0, len(text)), tuple(text.split()), **more)
        for number, text in enumerate(commands, 1)
    )


def judged(
    *commands: str,
    findings: tuple[Finding, ...] = (finding(),),
    decision: Decision = "ask",
    risk: Risk = "medium",
    **more: Any,
) -> Assessment:
    parts = more.pop("segments", None) or segments(*commands)
    return Assessment(decision, risk, findings, segments=parts, **more)


def call(*commands: str, **fields: Any) -> Event:
    return pre(shell(" && ".join(commands)), **{"turn": "t1", "cwd": FOLDER, **fields})


def tool(name: str, cls: Any, **args: Any) -> Tool:
    return Tool(name, name, cls, args, digest(args))


def asked(event: Event, found: Assessment, id: str = "r1", **fields: Any) -> ApprovalRequest:
    """The request about a call, as it waits."""
    call_tool = event.tool
    assert call_tool is not None
    data = RequestData(
        digest=subject_digest(event, call_tool),
        lane="gate",
        native="PreToolUse",
        tool=call_tool,
        summary=str(call_tool.input.get("command", call_tool.name)),
        risk=found.risk,
        rule=found.rule,
        reason="because",
        findings=found.findings,
        opaque=found.opaque,
        segments=found.segments,
        cwd=event.cwd,
        scopes=("once", "turn", "session", "15m", "always"),
    )
    data = msgspec.structs.replace(data, **fields)
    return ApprovalRequest(
        id=id.ljust(26, "k"),
        call="c1",
        subject=event,
        data=data,
        opened=START,
        deadline_s=START.mono_s + 300,
        waiters=[],
    )


def allowed(
    request: ApprovalRequest, scope: str = "once", *rules: GrantRule, width: Width | None = None
) -> ApprovalRequest:
    """The same request, as an operator has allowed it."""
    request.status = Status.ALLOWED
    request.settlement = Settlement(
        word="allowed-by-operator",
        by="operator ann",
        at=START,
        waited_s=1.0,
        scope=scope,
        rules=rules,
        width=width,
    )
    return request
