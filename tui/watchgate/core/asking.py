"""The request put to an operator: exactly what would run, and what silence means."""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.calls import Call, summarized
from watchgate.core.clock import Instant
from watchgate.core.drafts import call_line
from watchgate.core.events import Conduct, Event, Lane, OwnRules, Tool, ToolCall
from watchgate.core.grants.book import Grants
from watchgate.core.policy.assessment import Assessment
from watchgate.core.raising import why_raised
from watchgate.core.records import Asks, RequestData, Silence
from watchgate.core.requests import Request
from watchgate.core.ruling import Ruling
from watchgate.core.subject_digest import subject_digest
from watchgate.core.summary import summary

_OFFERED: Final[dict[Asks, tuple[str, ...]]] = {
    "approval": ("allow", "deny", "handback"),
    "plan": ("allow", "deny", "handback"),
    "question": ("answer", "deny", "handback"),
}
_REWRITTEN: Final = ("allow", "deny")
"""Handed back, a rewritten call would run as it was before."""


def request_about(
    ruling: Ruling,
    call: Call,
    assessment: Assessment,
    grants: Grants,
    id: str,
    silence: Silence,
    wait_s: float,
    now: Instant,
) -> Request:
    """Builds the open request about a call, which the call refers to from now on.

    No connection waits for it yet. Raises `TypeError` for an event without a call.

    Args:
        ruling: the ruling that asks, with the event as it would run.
        call: the call that the event belongs to.
        assessment: the policy's assessment of the call.
        grants: tells which scopes an allow may have.
        id: the id of the new request.
        silence: what it means when nobody answers.
        wait_s: seconds until silence decides.
        now: the current time.
    """
    event, tool = ruling.event, ruling.event.tool
    if tool is None:
        raise TypeError("a request is about a call")
    asks = _asks(event, tool)
    offered = _REWRITTEN if ruling.rewritten else _OFFERED[asks]
    if asks == "approval" and event.can.modify:
        offered += ("edit",)
    rules = _own_rules(event)
    scopes = grants.scopes(tool, assessment, asked_by=ruling.by or why_raised(assessment))
    data = RequestData(
        digest=subject_digest(event, tool),
        lane=event.lane,
        native=event.native,
        tool=tool,
        summary=summarized(None if ruling.rewritten else call, event, tool),
        risk=assessment.risk,
        rule=ruling.by or assessment.rule,
        reason=ruling.reason or assessment.reason,
        findings=assessment.findings,
        opaque=assessment.opaque,
        segments=assessment.segments,
        raised=why_raised(assessment),
        before=ruling.before,
        asked=_as_sent(ruling),
        cwd=event.cwd,
        mode=event.mode,
        sub=event.sub,
        offered=offered + (("stop",) if event.can.stop else ()),
        scopes=scopes if asks == "approval" else ("once",),
        silence=silence,
        own_rules=rules,
        runs_unasked=event.runs_unasked or rules.may_run_unasked,
        races=event.races_dialog and event.lane is Lane.RELAY,
        deadline_at=now.plus(wait_s).wall_us,
        timeout_s=wait_s,
        agent_pid=event.agent_pid,
        env=event.env,
        asks=asks,
        questions=body.questions if isinstance(body := event.body, ToolCall) else (),
    )
    call.handed_on = event.lane is Lane.RELAY and call.passed
    call.request, call.decided = id, None
    return Request(
        id=id,
        call=call.ref,
        subject=event,
        data=data,
        opened=now,
        deadline_s=now.mono_s + wait_s,
        waiters=[],
        rewritten=ruling.rewritten,
    )


def answerable(event: Event) -> bool:
    """Returns whether this is a question to a person that can be answered here.

    Somebody has to wait for the answer. Any other question is handed back at once, for the agent
    asks by itself.
    """
    tool = event.tool
    if event.kind != "question" or tool is None or not event.lane.waits:
        return False
    return event.can.allow if tool.cls == "plan" else event.can.answer


def _own_rules(event: Event) -> OwnRules:
    """Returns the agent's own behaviour: as its adapter knows it, else as its event says."""
    if event.own_rules is not None:
        return event.own_rules
    allowed: Conduct = "runs" if event.can.allow else "runs-or-asks"
    if not event.runs_unasked:
        return OwnRules(allowed, "asks")
    return OwnRules(allowed, "runs" if event.mode else "runs-or-asks")


def _as_sent(ruling: Ruling) -> str:
    """Returns the line of the call as the agent sent it, where a handler rewrote it; else empty."""
    event, before = ruling.event, ruling.before
    if before is None or event.tool is None:
        return ""
    return call_line(summary(msgspec.structs.replace(event.tool, input=before), event.cwd))


def _asks(event: Event, tool: Tool) -> Asks:
    if event.kind != "question":
        return "approval"
    return "plan" if tool.cls == "plan" else "question"
