"""Records and alarms of what was refused to whoever is no proven person."""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.presence.attempts import (
    ALARM,
    KIND,
    AttemptData,
    Attempts,
    doing,
    summary_of,
    who,
)
from watchgate.core.records import Draft
from watchgate.core.requests import Request as Asked
from watchgate.link.protocol import Request
from watchgate.service.hub import Hub
from watchgate.service.identity.standing import leader_of
from watchgate.service.verbs.caller import Caller

CODES: Final = frozenset({"self_approval", "locked"})


class Refusing:
    """Records refused attempts, over one hub."""

    def __init__(self, hub: Hub, clock: Clock) -> None:
        self._hub = hub
        self._clock = clock
        self._attempts = Attempts()

    def refused(self, request: Request, caller: Caller, code: str) -> None:
        """Record an attempt that was refused with this code, where it is one of no person."""
        proof = caller.proof()
        if code not in CODES or proof.is_proven:
            return
        found, now = self._request(request), self._clock.now()
        leader = leader_of(caller.chain) or next(iter(caller.chain), None)
        decision = request.decision or ""
        told = self._attempts.refused(
            leader.key if leader else (caller.pid, ""),
            (request.verb, decision, found.id if found else ""),
            proof.standing,
            console=caller.console,
            alarmed=self._hub.recorder.state.gate.is_attempted,
            now_s=now.mono_s,
        )
        if told is None:
            return
        actor = caller.actor(proof)
        data = AttemptData(
            what=f"{who(actor)} {doing(request.verb, decision)}",
            detail=f"refused, as {proof.why}" if proof.why else "refused",
            verb=request.verb,
            decision=decision,
            refused=code,
            standing=proof.standing,
            tool=found.data.tool.name if found else "",
            summary=summary_of(found.data.summary) if found else "",
            count=told.count,
            alarm=ALARM if told.alarm else "",
            actor=actor,
        )
        draft = Draft(kind=KIND, at=now.wall_us, data=data)
        if found is not None:
            draft = msgspec.structs.replace(
                draft,
                agent=found.subject.agent,
                session=found.subject.session,
                call=found.call,
                request=found.id,
            )
        self._hub.recorder.record(draft)

    def _request(self, request: Request) -> Asked | None:
        """The request that is meant, if there is one."""
        try:
            return self._hub.engine.broker.find(request.request) if request.request else None
        except Refused:
            return None
