"""Restores the state around a core when it decided, as far as its decision shows that.

Whether a console was attached, whether the journal could be written and which grants were in
force belongs to no session: it is read off the outcome that was recorded.

- The policy gate of a replay: calls that cannot be judged again keep their recorded assessment.
- Restores a handler's verdict from its row in a recorded trace. A row keeps the kind of a verdict
  and its words, not the verdict: the words are taken apart again. A rewrite is found in the request
  that was made of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, cast, get_args

from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.dispatch_loop import CANCELLED, DETAIL_CHARS
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import RAISING
from watchgate.core.model.assessment import Assessment, Decision, Finding
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import CallData, DecisionData, RequestData, TraceData
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    TraceRow,
    Verdict,
)

_Key = tuple[str, str, str, int]


class ReplayGate(PolicyGate):
    """A policy gate for the calls of a recording."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._as_recorded: dict[_Key, Assessment] = {}
        self._over: dict[_Key, str] = {}

    def keep(self, event: Event, assessment: Assessment) -> None:
        """Sets the assessment of the event's call."""
        self._as_recorded[_key(event)] = assessment

    def keep_over_budget(self, event: Event, why: str) -> None:
        """Notes that the event's call was asked because a budget was used up."""
        self._over[_key(event)] = why

    def over_budget(self, event: Event) -> str:
        """Returns the budget's reason as of now, else the one of the recorded call."""
        return super().over_budget(event) or self._over.get(_key(event), "")

    def assess(self, event: Event) -> Assessment | None:
        """Returns the recorded assessment of the call if that is kept, else the policy's now."""
        return self._as_recorded.get(_key(event)) or super().assess(event)


def recorded_assessment(call: CallData, asked: RequestData | None) -> Assessment:
    """Rebuilds the assessment that was recorded; its decision shows in what followed."""
    decision: Decision = "ask"
    if call.gate == "denied" and call.word == "denied-by-rule":
        decision = "deny"
    elif call.gate == "handback":
        decision = "allow"
    risk = asked.risk if asked is not None else call.risk
    findings = asked.findings if asked is not None else ()
    if not findings:
        findings = (Finding(call.rule, call.reason, risk, decision=decision),)  # type: ignore[arg-type]
    return Assessment(decision, risk, findings)  # type: ignore[arg-type]


def _key(event: Event) -> _Key:
    return event.agent, event.session, event.native, event.at.wall_us


_NO_INPUT: Final = "a rewrite without an input"
_FAILED_OPEN: Final = "it failed, and fails open"
_PREFIXES: Final = (
    "only watched here",
    CANCELLED,
    _NO_INPUT,
    _FAILED_OPEN,
    re.compile(r"it is registered as \w+"),
    re.compile(r"\w+ is not allowed at [\w.]+"),
    re.compile(r"[\w-]+ takes no text for the model"),
)
"""Words that may stand before those of a verdict that had no say."""

_SIMPLE: Final[dict[str, Callable[[str], Verdict]]] = {
    "allow": Allow,
    "block": Block,
    "abort": Abort,
    "confirm": Confirm,
    "defer": Defer,
}
_LENGTH: Final = re.compile(r"(\d+) characters for the model")


def cut_short(row: TraceRow) -> bool:
    """Returns whether the handler was ended because nobody waited for it any more."""
    return row.verdict == "failed" and row.detail.endswith(CANCELLED)


def recorded_verdict(
    row: TraceRow, trace: TraceData, rewritten: dict[str, Any] | None
) -> Verdict | None:
    """Returns the verdict of a handler that ran; None where the recording does not say.

    `rewritten` is the input that a rewrite made of the call, where it was recorded.
    """
    own = _own_words(row)
    if len(own) == DETAIL_CHARS and trace.reason.startswith(own):
        own = trace.reason
    if (simple := _SIMPLE.get(row.verdict or "")) is not None:
        return simple(own)
    if row.verdict == "inject" and (length := _LENGTH.fullmatch(own)):
        return Inject("?" * int(length[1]))
    if row.verdict == "modify":
        of_this = trace.decided_by == row.handler
        words = row.detail + (trace.reason if of_this else "")
        if _NO_INPUT in words or _FAILED_OPEN in words:
            return Modify(None, own)
        return None if rewritten is None else Modify(rewritten, own)
    cause, _, detail = own.partition(": ")
    if row.verdict == "failed" and cause in get_args(FailureCause):
        return Failed(cast("FailureCause", cause), detail)
    return None


def _own_words(row: TraceRow) -> str:
    """Returns the detail without the reasons for which the verdict had no say."""
    words = row.detail
    if not row.ignored:
        return words
    for prefix in _PREFIXES:
        if isinstance(prefix, str):
            matches = words.startswith(prefix)
            length = len(prefix)
        else:
            matched = prefix.match(words)
            matches, length = matched is not None, matched.end() if matched else 0
        if matches:
            words = words[length:].removeprefix(": ")
    return words


_NOBODY: Final = "no console is attached"


def restore_context(
    engine: Engine,
    event: Event,
    call: CallData,
    asked: RequestData | None,
    ended: DecisionData | None,
    assessment: Assessment | None,
    now: Instant,
) -> None:
    """Puts the engine into the state in which the recorded call found it.

    Args:
        engine: The engine of the replay.
        event: The event, with its call.
        call: The recorded call.
        asked: The request about it, if any.
        ended: The end of that request, if any.
        assessment: The policy's assessment now.
        now: The time of the replay.
    """
    standing = engine.status
    alone = call.word == "denied-no-approver"
    if call.gate == "held" and asked is not None:
        alone = (ended is not None and ended.reason == _NOBODY) or _alone(engine, event, asked)
    standing.consoles = 0 if alone else 1
    unwritten = call.word == "denied-no-journal" or call.rule == "denied-no-journal"
    standing.journal_lost = call.reason if unwritten else ""
    if event.lane is Lane.RELAY and not event.races_dialog and call.gate in ("held", "handback"):
        there = call.gate == "held" and not _for_the_disk_alone(engine, asked)
        standing.last_key_s = now.mono_s if there else float("-inf")
    by_grant = ended is not None and ended.word == "allowed-by-grant"
    if call.gate == "held" and not by_grant and assessment is not None:
        _take_back(engine, event, call, assessment, now)


def _for_the_disk_alone(engine: Engine, asked: RequestData | None) -> bool:
    """Returns whether the held call waited for nobody: a rule or a grant had answered it."""
    return asked is not None and asked.timeout_s <= engine.config.approval.margin_s


def _alone(engine: Engine, event: Event, asked: RequestData) -> bool:
    """Returns whether the wait that was recorded is the one without a console."""
    times = engine.config.approval
    if times.unattended == "deny" or event.lane is Lane.RELAY:
        return False
    alone_s, attended_s = times.unattended_timeout_s, times.timeout_s
    return asked.timeout_s > attended_s or asked.timeout_s <= alone_s < attended_s


def _take_back(
    engine: Engine, event: Event, call: CallData, assessment: Assessment, now: Instant
) -> None:
    """Revokes a grant that would answer a call which none answered then.

    Args:
        engine: The engine of the replay.
        event: The event, with its call.
        call: The recorded call.
        assessment: The policy's assessment now.
        now: The time of the replay.
    """
    if event.tool is None:
        return
    other = call.rule if call.rule.startswith("handler ") or call.rule in RAISING else ""
    grant = engine.grants.covering(event, event.tool, assessment, now, asked_by=other)
    if grant is not None:
        engine.grants.revoke(grant.id, "", now)
