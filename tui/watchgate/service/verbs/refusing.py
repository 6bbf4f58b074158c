"""Records and alarms of attempts that were refused to clients without a person's proof."""

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
from watchgate.core.requests import Request as ApprovalRequest
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
        """Records an attempt that was refused with this code, unless it is a person's."""
        proof = caller.proof()
        if code not in CODES or proof.is_proven:
            return
        target, now = self._request(request), self._clock.now()
        leader = leader_of(caller.chain) or next(iter(caller.chain), None)
        decision = request.decision or ""
        attempt = self._attempts.refused(
            leader.key if leader else (caller.pid, ""),
            (request.verb, decision, target.id if target else ""),
            proof.standing,
            console=caller.console,
            alarmed=self._hub.recorder.state.gate.is_attempted,
            now_s=now.mono_s,
        )
        if attempt is None:
            return
        actor = caller.actor(proof)
        data = AttemptData(
            what=f"{who(actor)} {doing(request.verb, decision)}",
            detail=f"refused, as {proof.why}" if proof.why else "refused",
            verb=request.verb,
            decision=decision,
            refused=code,
            standing=proof.standing,
            tool=target.data.tool.name if target else "",
            summary=summary_of(target.data.summary) if target else "",
            count=attempt.count,
            alarm=ALARM if attempt.alarm else "",
            actor=actor,
        )
        draft = Draft(kind=KIND, at=now.wall_us, data=data)
        if target is not None:
            draft = msgspec.structs.replace(
                draft,
                agent=target.subject.agent,
                session=target.subject.session,
                call=target.call,
                request=target.id,
            )
        self._hub.recorder.record(draft)

    def _request(self, request: Request) -> ApprovalRequest | None:
        """Returns the request that is named, if there is one."""
        try:
            return self._hub.engine.broker.find(request.request) if request.request else None
        except Refused:
            return None
