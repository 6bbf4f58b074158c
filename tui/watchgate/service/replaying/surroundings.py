"""Restores the state around a core when it decided, as far as its decision shows that.

Whether a console was attached, whether the journal could be written and which grants were in
force belongs to no session: it is read off the outcome that was recorded.
"""

from __future__ import annotations

from typing import Final

from watchgate.core.clock import Instant
from watchgate.core.engine import Engine
from watchgate.core.events import Event, Lane
from watchgate.core.policy.assessment import Assessment
from watchgate.core.raising import RAISING
from watchgate.core.records import CallData, DecisionData, RequestData

_NOBODY: Final = "no console is attached"


def surround(
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
