"""An operator's decision, and every reason to refuse it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.gate.grant_rules import why_no_grant
from watchgate.core.model.actor import Actor
from watchgate.core.model.questions import check_answers
from watchgate.core.model.records import RequestData
from watchgate.core.model.requests import ApprovalRequest, RefusalCode, Settlement, Status
from watchgate.core.model.standing_grant import GrantRule, Width, width_of
from watchgate.core.presence.proof import Proof

_LETS_RUN = ("allow", "answer")
ARMED_AFTER_MS = 600
LOOKED_AT_TWICE = ("high", "critical", "unknown")


class OperatorDecision(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's decision about one request, and what entitles the operator to it.

    `proof` is what proves that a person decides, `actor` the process it came from, `shown_ms` for
    how long a screen showed the request (None: none did), `confirmed` that a second look was taken.
    `answers` are those to each question, `input` is what an allowed call shall run with instead.
    `width` is how much an allow beyond `once` answers besides, `rules` are of the width "program".
    """

    decision: Literal["allow", "deny", "handback", "answer"]
    by: str
    digest: str | None = None
    reason: str = ""
    scope: str = "once"
    stop: bool = False
    proof: Proof = Proof()
    actor: Actor | None = None
    shown_ms: int | None = None
    confirmed: bool = False
    answers: tuple[tuple[str, ...], ...] = ()
    input: dict[str, Any] | None = None
    rules: tuple[GrantRule, ...] = ()
    width: Width | None = None


class Refused(Exception):
    """Raised for a decision that was not taken; the request goes on waiting, unchanged."""

    def __init__(
        self,
        code: RefusalCode,
        message: str,
        *,
        settlement: Settlement | None = None,
        wait_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.code: RefusalCode = code
        self.settlement = settlement


def check_decision(decision: OperatorDecision, request: ApprovalRequest, now: Instant) -> None:
    """Raises `Refused` unless the decision can be taken now (AP-5, AP-6, AP-11)."""
    if request.status is not Status.PENDING:
        raise already_settled(request)
    _check_offered(decision, request.data)
    if decision.decision in _LETS_RUN and decision.digest is None:
        raise Refused("bad_request", f"an {decision.decision} needs the digest of what was shown")
    if decision.digest is not None and decision.digest != request.data.digest:
        why = "the digest is not that of this request: look at it again, then decide"
        raise Refused("digest_mismatch", why)
    bar = decision.proof.bar_to_allow(request.data.risk, decision.scope)
    if bar is not None and decision.decision != "deny":
        raise Refused(*bar)
    if now.mono_s >= request.deadline_s:
        raise Refused("too_late", "the deadline has passed: silence has decided")
    _check_armed(decision, request.data)


def already_settled(request: ApprovalRequest) -> Refused:
    """Returns the refusal for a request that is decided already, with its decision and author."""
    end = request.settlement
    words = f"{end.word.replace('-', ' ')}, {end.by}" if end else "unknown"
    return Refused("already_settled", f"already settled: {words}", settlement=end)


def _check_offered(decision: OperatorDecision, data: RequestData) -> None:
    choice, scope = decision.decision, decision.scope
    if choice not in data.offered:
        instead = "; watchgate answer answers a question" if "answer" in data.offered else ""
        offered = ", ".join(data.offered)
        raise Refused("not_offered", f"{choice} is not offered here: {offered}{instead}")
    if choice == "answer" and (fault := check_answers(data.questions, decision.answers)):
        raise Refused("bad_request", fault)
    if choice != "answer" and decision.answers:
        raise Refused("bad_request", f"only an answer has answers, a {choice} has none")
    if choice == "allow" and scope not in data.scopes:
        why = f"scope {scope} is not offered for this risk, it may be: {', '.join(data.scopes)}"
        raise Refused("not_offered", why)
    if choice != "allow" and scope != "once":
        raise Refused("bad_request", f"only an allow has a scope, a {choice} has none")
    _check_width(decision, data)
    if choice != "deny" and decision.stop:
        raise Refused("bad_request", f"only a denial ends the turn, a {choice} does not")
    if decision.stop and "stop" not in data.offered:
        why = "this agent cannot be told to end its turn: deny without that, with a reason"
        raise Refused("not_offered", why)


def _check_width(decision: OperatorDecision, data: RequestData) -> None:
    width = width_of(decision.scope, decision.width)
    if decision.scope == "once" and (decision.rules or decision.width):
        raise Refused("bad_request", "only an allow beyond once has rules or a width")
    if decision.rules and width != "program":
        raise Refused("bad_request", "only an allow of the width program has rules")
    beyond = width != "exact" or decision.scope == "always"
    if beyond and "always" not in data.scopes:
        raise Refused("not_offered", f"the width {width} is not offered: only exactly this call")
    if beyond and (why := why_no_grant(data, width, decision.rules)):
        raise Refused("bad_request", why)


def _check_armed(decision: OperatorDecision, data: RequestData) -> None:
    handed = decision.decision == "handback" and data.runs_unasked
    runs = decision.decision in _LETS_RUN or handed
    if runs and decision.shown_ms is not None and decision.shown_ms < ARMED_AFTER_MS:
        raise Refused("not_armed", f"shown for {decision.shown_ms} ms; {ARMED_AFTER_MS} are needed")
    grave = runs and data.risk in LOOKED_AT_TWICE
    if grave and not decision.confirmed:
        raise Refused("not_armed", f"a {data.risk} request needs a confirmed {decision.decision}")
    nobody_looked = grave and decision.shown_ms is None and not decision.proof.tty
    if nobody_looked and not decision.proof.token_covers(data.risk, decision.scope):
        raise Refused(
            "not_armed",
            f"a {data.risk} request needs somebody who looks at it: decide on the console or in a "
            "terminal, or register the program that decides (watchgate token add)",
        )
