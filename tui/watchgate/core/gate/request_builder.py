"""The request put to an operator: exactly what would run, and what silence means.

- An operator's edit of a call: another request, judged anew, in the place of the first. The request
  that was asked stays as it is in the record. The edited input has a digest and a risk of its own,
  and only that is allowed: the decision on it is checked as if the edited call had been asked from
  the start.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.dispatch_loop import with_input
from watchgate.core.gate.call_tracker import TrackedCall, summarized
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.operator_decisions import (
    OperatorDecision,
    Refused,
    already_settled,
    check_decision,
)
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import why_raised
from watchgate.core.gate.record_builders import call_line
from watchgate.core.gate.ruling import Ruling
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Conduct, Event, Lane, OwnRules, Tool, ToolCall
from watchgate.core.model.records import Asks, RequestData, Silence
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.model.verdicts import Modify
from watchgate.core.tools.summary import summary
from watchgate.core.tools.tool_input import subject_digest

MAX_INPUT_BYTES = 4 * 1024 * 1024


def edited_request(
    request: ApprovalRequest, args: dict[str, Any], gate: PolicyGate, id: str
) -> ApprovalRequest:
    """Returns the request that `request` becomes with this input; changes nothing.

    Raises `Refused` where the call cannot be edited, or a rule denies what it became.
    """
    if request.status is not Status.PENDING:
        raise already_settled(request)
    if "edit" not in request.data.offered:
        raise Refused(
            "not_offered",
            f"{request.subject.agent} cannot be told another input here: deny with a reply instead",
        )
    _check_input(request, args)
    subject = with_input(request.subject, Modify(args))
    tool, assessment = subject.tool, gate.assess(subject)
    if tool is None or assessment is None:
        raise Refused("bad_request", "only a tool call can be edited")
    if assessment.decision == "deny":
        raise Refused("not_offered", f"a rule denies the edited call: {assessment.reason}")
    digest = subject_digest(subject, tool)
    data = msgspec.structs.replace(
        request.data,
        digest=digest,
        tool=tool,
        summary=summary(tool, subject.cwd),
        scopes=("once",),
        before=request.data.tool.input if request.data.before is None else request.data.before,
        edited_from=request.id,
        asked=request.data.asked or call_line(request.data.summary),
        asked_risk=request.data.asked_risk if request.data.asked else request.data.risk,
        offered=tuple(each for each in request.data.offered if each != "handback"),
        silence="deny",
        **_judged(assessment),
    )
    return ApprovalRequest(
        id=id,
        call=request.call,
        subject=subject,
        data=data,
        opened=request.opened,
        deadline_s=request.deadline_s,
        # Handed back, the call would run as it was before.
        waiters=[msgspec.structs.replace(each, silence="deny") for each in request.waiters],
        rewritten=True,
        context=request.context,
    )


def check_edit(
    decision: OperatorDecision, request: ApprovalRequest, edited: ApprovalRequest, now: Instant
) -> OperatorDecision:
    """Returns the decision as one about the edited request; raises `Refused` if it is not valid.

    Its digest is that of the request that was shown when the edit began, or of what it became.
    """
    if decision.decision != "allow":
        raise Refused("bad_request", f"only an allow has an input, a {decision.decision} has none")
    if decision.digest is None:
        raise Refused("bad_request", "an allow needs the digest of what was shown")
    if decision.digest not in (request.data.digest, edited.data.digest):
        raise Refused(
            "digest_mismatch",
            "the digest is not that of the request that is edited: look at it again, then decide",
        )
    meant = msgspec.structs.replace(decision, digest=edited.data.digest, input=None)
    check_decision(meant, edited, now)
    return meant


def edit_preview(edited: ApprovalRequest) -> dict[str, Any]:
    """Returns the parts of an edited call that an operator has to look at before it is allowed."""
    data = edited.data
    return {
        "digest": data.digest,
        "summary": data.summary,
        **{
            name: msgspec.to_builtins(getattr(data, name))
            for name in ("risk", "rule", "reason", "findings", "opaque", "segments", "raised")
        },
        "input": data.tool.input,
        "before": data.before,
    }


def _judged(assessment: Assessment) -> dict[str, Any]:
    return {
        "risk": assessment.risk,
        "rule": assessment.rule,
        "reason": assessment.reason,
        "findings": assessment.findings,
        "opaque": assessment.opaque,
        "segments": assessment.segments,
        "raised": why_raised(assessment),
    }


def _check_input(request: ApprovalRequest, args: dict[str, Any]) -> None:
    before = request.data.tool.input
    if args == before:
        raise Refused("bad_request", "the input is not changed: allow the request as it is")
    if unknown := sorted(set(args) - set(before)):
        raise Refused(
            "bad_request",
            f"the call has no {', '.join(unknown)}: an edit changes the fields that it has",
        )
    try:
        size = len(msgspec.json.encode(args))
    except (ValueError, TypeError) as fault:
        raise Refused("bad_request", f"the input cannot be sent: {fault}") from None
    if size > MAX_INPUT_BYTES:
        raise Refused("bad_request", f"the input is {size:,} bytes; {MAX_INPUT_BYTES:,} at most")


_OFFERED: Final[dict[Asks, tuple[str, ...]]] = {
    "approval": ("allow", "deny", "handback"),
    "plan": ("allow", "deny", "handback"),
    "question": ("answer", "deny", "handback"),
}
_REWRITTEN: Final = ("allow", "deny")
"""Handed back, a rewritten call would run as it was before."""


def build_request(
    ruling: Ruling,
    call: TrackedCall,
    assessment: Assessment,
    grants: Grants,
    id: str,
    silence: Silence,
    wait_s: float,
    now: Instant,
) -> ApprovalRequest:
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
    return ApprovalRequest(
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
