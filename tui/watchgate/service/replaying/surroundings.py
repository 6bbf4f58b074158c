"""What was around a core when it decided, as far as what it decided tells.

Whether a console was attached, whether the journal could be written and which grants were in force
belongs to no session: it is read off the outcome that was recorded.
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
    found: Assessment | None,
    now: Instant,
) -> None:
    """Let the engine stand as the recorded call found it; `found` is the policy's word now."""
    standing = engine.standing
    alone = call.word == "denied-no-approver"
    if call.gate == "held" and asked is not None:
        alone = (ended is not None and ended.reason == _NOBODY) or _alone(engine, event, asked)
    standing.consoles = 0 if alone else 1
    unwritten = call.word == "denied-no-journal" or call.rule == "denied-no-journal"
    standing.journal_lost = call.reason if unwritten else ""
    if event.lane is Lane.RELAY and not event.races_dialog and call.gate in ("held", "handback"):
        there = call.gate == "held" and not _for_the_disk_alone(engine, asked)
        standing.key_seen_s = now.mono_s if there else float("-inf")
    by_grant = ended is not None and ended.word == "allowed-by-grant"
    if call.gate == "held" and not by_grant and found is not None:
        _take_back(engine, event, call, found, now)


def _for_the_disk_alone(engine: Engine, asked: RequestData | None) -> bool:
    """Whether what was held waited for nobody: a rule or a grant had answered it."""
    return asked is not None and asked.timeout_s <= engine.config.approval.margin_s


def _alone(engine: Engine, event: Event, asked: RequestData) -> bool:
    """Whether the wait that was recorded is the one without a console."""
    times = engine.config.approval
    if times.unattended == "deny" or event.lane is Lane.RELAY:
        return False
    alone_s, attended_s = times.unattended_timeout_s, times.timeout_s
    return asked.timeout_s > attended_s or asked.timeout_s <= alone_s < attended_s


def _take_back(
    engine: Engine, event: Event, call: CallData, found: Assessment, now: Instant
) -> None:
    """End a grant that would answer a call which none answered then: it was taken back before."""
    if event.tool is None:
        return
    other = call.rule if call.rule.startswith("handler ") or call.rule in RAISING else ""
    grant = engine.grants.covering(event, event.tool, found, now, asked_by=other)
    if grant is not None:
        engine.grants.revoke(grant.id, "", now)
