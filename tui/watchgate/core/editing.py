"""An operator's edit of a call: another request, judged anew, in the place of the first.

The request that was asked stays as it is in the record. The edited input has a digest and a risk
of its own, and only that is allowed: the decision on it is checked as if the edited call had been
asked from the start.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.decisions import Decision, Refused, check, settled
from watchgate.core.dispatch import with_input
from watchgate.core.drafts import call_line
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.raising import why_raised
from watchgate.core.requests import Request, Status
from watchgate.core.subject_digest import subject_digest
from watchgate.core.summary import summary
from watchgate.core.verdicts import Modify

MAX_INPUT_BYTES = 4 * 1024 * 1024


def edited(request: Request, args: dict[str, Any], gate: PolicyGate, id: str) -> Request:
    """Returns the request that `request` becomes with this input; changes nothing.

    Raises `Refused` where the call cannot be edited, or a rule denies what it became.
    """
    if request.status is not Status.PENDING:
        raise settled(request)
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
    return Request(
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


def check_edit(decision: Decision, request: Request, edited: Request, now: Instant) -> Decision:
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
    check(meant, edited, now)
    return meant


def preview(edited: Request) -> dict[str, Any]:
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


def _check_input(request: Request, args: dict[str, Any]) -> None:
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
