"""The ruling on a call: the user's handlers and the policy come to one decision.

The handlers run first, under the preset that the configuration names; the policy then judges the
call as they left it, whatever they decided. So no preset and no handler can let through what the
policy holds. A rewritten call needs an operator's allow. An allow that nobody gave is sent to an
agent only where the configuration has the policy's allow rules do so, and never for a handler's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.dispatch.dispatch_loop import with_input
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.dispatch.verdict_rules import POLICY, verdict_tag, verdict_text
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import (
    Allow,
    Block,
    Confirm,
    Decision,
    Failed,
    Modify,
    Outcome,
    SkipReason,
    TraceRow,
    Verdict,
)

_STEERS = frozenset({"block", "abort", "confirm", "modify", "failed"})
_VIEWED = "only watched here"
_ALTERED = "what is shown is what would run, rewritten by handler {}"
_NO_REWRITE = "handler {} rewrote the call, and {} cannot be told another input"


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome with the policy's row, and the event as it would run.

    `by` and `reason` are those of a decision that is not the policy's; empty when it is. `counted`
    says whether the handlers had a say at all, `before` is the input that a handler rewrote.
    """

    event: Event
    outcome: Outcome
    policy: TraceRow
    rewritten: bool = False
    counted: bool = True
    before: dict[str, Any] | None = None

    @property
    def by(self) -> str:
        """Returns the handler that decided, in words; empty when the policy did."""
        return f"handler {self.hook}" if self.hook else ""

    @property
    def hook(self) -> str:
        """Returns the id of the handler that decided; empty when the policy did."""
        author = self.outcome.decided_by
        return "" if author is None or author == POLICY else author

    @property
    def reason(self) -> str:
        """Returns the deciding handler's reason; empty when the policy decided."""
        return self.outcome.reason if self.by else ""


def rule(
    event: Event, chain: Outcome, preset: DispatchPolicy, policy: PolicyGate, at_ms: float = 0.0
) -> Ruling:
    """Decides on a call, with the outcome of its handlers and the policy's verdict.

    Args:
        event: the call, as its agent sent it.
        chain: the outcome of the handlers.
        preset: the dispatch policy of the user's handlers.
        policy: the policy, as the last handler of every call.
        at_ms: milliseconds from the begin of the dispatch to the policy's verdict.
    """
    counts = chain.effect == "gate" and event.lane.waits and policy.profile != "watch"
    if not counts:
        chain = msgspec.structs.replace(chain, trace=only_viewed(chain.trace))
    if counts and chain.decision == "deny":
        row = _row(why="after-stop")
        return _ruling(event, chain, row)
    altered = counts and chain.input is not None
    subject = with_input(event, Modify(chain.input)) if altered else event
    verdict = policy(subject)
    row = _row(verdict, at_ms=at_ms, took_ms=policy.took_ms)
    if isinstance(verdict, Block | Failed):
        denied = _outcome(chain, "deny", verdict_text(verdict), POLICY)
        return _ruling(subject, denied, row, counted=counts)
    if altered:
        author = chain.rewritten_by or "?"
        if not event.can.modify:
            denied = _outcome(chain, "deny", _NO_REWRITE.format(author, event.agent), author)
            return _ruling(event, denied, row)
        why = _ALTERED.format(author)
        if chain.decision == "confirm" and chain.reason:
            why = f"{why}; {chain.decided_by} asks: {chain.reason}"
        held = _outcome(chain, "confirm", why, author)
        before = event.tool.input if event.tool is not None else None
        ruling = _ruling(subject, held, row, rewritten=True)
        return msgspec.structs.replace(ruling, before=before)
    if isinstance(verdict, Confirm):
        asked = _outcome(chain, "confirm", verdict.message, POLICY)
        return _ruling(event, asked, row, counted=counts)
    if counts and chain.decision == "confirm" and preset.confirm == "broker":
        return _ruling(event, chain, row)
    if counts and isinstance(verdict, Allow):
        allowed = _outcome(chain, "allow", verdict_text(verdict), POLICY)
        return _ruling(event, allowed, row)
    none = _outcome(chain, "none", verdict_text(verdict), POLICY)
    return _ruling(event, none, row, counted=counts)


def only_viewed(rows: tuple[TraceRow, ...]) -> tuple[TraceRow, ...]:
    """Returns the rows, marking those of handlers that would have steered and had no say."""
    return tuple(
        msgspec.structs.replace(row, ignored=True, detail=f"{_VIEWED}: {row.detail}".rstrip(": "))
        if row.verdict in _STEERS and not row.ignored
        else row
        for row in rows
    )


def _ruling(
    event: Event,
    outcome: Outcome,
    row: TraceRow,
    *,
    rewritten: bool = False,
    counted: bool = True,
) -> Ruling:
    """Returns a ruling with the policy's row behind those of the handlers.

    Args:
        event: the call as it would run.
        outcome: the decision, with the handlers' rows.
        row: the policy's row.
        rewritten: whether a handler rewrote the call.
        counted: whether the handlers had a say.
    """
    whole = msgspec.structs.replace(outcome, trace=(*outcome.trace, row))
    return Ruling(event=event, outcome=whole, policy=row, rewritten=rewritten, counted=counted)


def _outcome(chain: Outcome, decided: Decision, reason: str, by: str) -> Outcome:
    return msgspec.structs.replace(
        chain,
        decision=decided,
        reason=reason,
        decided_by=by,
        failed=None,
        stop_turn=False,
        effect="gate",
    )


def _row(
    verdict: Verdict | None = None,
    why: SkipReason | None = None,
    at_ms: float = 0.0,
    took_ms: float | None = None,
) -> TraceRow:
    return TraceRow(
        handler=POLICY,
        role="gate",
        kind=POLICY,
        status="skipped" if verdict is None else "ran",
        why=why,
        verdict=None if verdict is None else verdict_tag(verdict),
        detail="" if verdict is None else verdict_text(verdict),
        start_ms=None if took_ms is None else at_ms,
        duration_ms=took_ms,
    )
