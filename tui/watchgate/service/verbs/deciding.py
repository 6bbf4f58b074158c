"""Verbs that decide about requests, or give them more time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.clock import Clock
from watchgate.core.config import AGENT_MAX_S
from watchgate.core.decisions import Decision, Refused, settled
from watchgate.core.editing import preview
from watchgate.core.presence.proof import Proof
from watchgate.core.records import CoreData
from watchgate.core.requests import Request as ApprovalRequest
from watchgate.core.requests import Status
from watchgate.link.protocol import Request
from watchgate.service.grant_store import GrantStore
from watchgate.service.hub import Hub
from watchgate.service.identity.tokens import Tokens
from watchgate.service.journal.schema import JournalError
from watchgate.service.verbs.caller import Caller, Do, named


class Deciding:
    """Decisions and more time, over one hub.

    Args:
        hub: The hub.
        clock: The clock.
        journal: The journal's database.
        store: The grants on disk.
        tokens: The registered programs.
    """

    def __init__(
        self, hub: Hub, clock: Clock, *, journal: Path, store: GrantStore, tokens: Tokens
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._clock = clock
        self._journal = journal
        self._store = store

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"decide": self._decide, "extend": self._extend, "preview": self._preview}

    async def _decide(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.decision is None:
            raise Refused("bad_request", "decide needs a decision: allow, deny, handback or answer")
        engine, now = self._hub.engine, self._clock.now()
        broker = engine.broker
        target = broker.find(named(request))
        proof, program = self._proof(request, caller, target)
        decision = Decision(
            decision=request.decision,
            by=caller.name(request.as_, proof, program),
            digest=request.digest,
            reason=request.reason or "",
            scope=request.scope,
            stop=request.stop,
            proof=proof,
            actor=caller.actor(proof, program),
            shown_ms=request.shown_ms,
            confirmed=request.confirmed,
            answers=request.answers,
            rules=request.rules,
            width=request.width,
        )
        if request.input is None:
            decided = broker.decide(target.id, decision, now)
            self._hub.execute(engine.decided(decided))
        else:
            decided, effects = engine.edit(target, request.input, decision, now)
            self._hub.execute(effects)
        if decided.status is Status.COMMITTING:
            # Nobody may hear of an allow that the disk refused and the agent was never told.
            await self._hub.written()
            if decided.status is Status.COMMITTING:
                raise JournalError(
                    self._journal,
                    "has not taken the allow yet: the agent is told once it has, and denied at the "
                    f"deadline otherwise; see watchgate show {decided.id[:4]}",
                )
            if decided.status is not Status.ALLOWED:
                raise settled(decided)
        end = decided.ending
        return {
            "request": decided.id,
            "word": end.word,
            "by": end.by,
            **await self._save_grant(decided),
        }

    async def _save_grant(self, decided: ApprovalRequest) -> dict[str, Any]:
        """Saves a grant for good on disk; the allow itself stands even where that fails."""
        if decided.ending.scope != "always":
            return {}
        try:
            await self._store.save()
        except OSError as fault:
            what = f"{self._store.path} cannot be written: the grant ends with this core"
            data = CoreData(what=what, detail=fault.strerror or str(fault))
            self._hub.recorder.about_core("policy.fault", data)
            return {"warning": f"{what} ({data.detail})"}
        finally:
            # What is in force from now on must not lack its record after a kill.
            await self._hub.written()
        return {}

    def _proof(
        self, request: Request, caller: Caller, target: ApprovalRequest
    ) -> tuple[Proof, str]:
        """Returns the caller's proof, and the registered program whose token is to decide.

        Beyond what its token reaches a program is judged as everybody else is. A denial is free:
        there the token only names who denies, and a wrong one nobody.
        """
        proof, denies = caller.proof(target.id), request.decision == "deny"
        if request.token is None or (denies and proof.is_proven):
            return proof, ""
        try:
            row = self._tokens.program(request.token)
        except Refused:
            if denies:
                return proof, ""
            raise
        able = msgspec.structs.replace(proof, program=row.risk)
        if denies and proof.standing != "below":
            return able, row.name
        if request.input is None and able.token_covers(target.data.risk, request.scope):
            return able, row.name
        return proof, ""

    async def _preview(self, request: Request, _caller: Caller) -> dict[str, Any]:
        """Returns the request with another input; nothing changes."""
        if request.input is None:
            raise Refused("bad_request", "preview needs the input that the call shall have")
        engine = self._hub.engine
        return preview(engine.edited(engine.broker.find(named(request)), request.input))

    async def _extend(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not 0 < (request.seconds or 0) <= AGENT_MAX_S:
            raise Refused("bad_request", f"extend needs seconds, from 1 to {AGENT_MAX_S}")
        broker, now = self._hub.engine.broker, self._clock.now()
        target = broker.find(named(request))
        proof = caller.proof(target.id)
        if bar := proof.bar_to_allow(target.data.risk):
            raise Refused(*bar)
        longer = broker.extend(target.id, request.seconds or 0, now)
        by, actor = caller.name(request.as_, proof), caller.actor(proof)
        self._hub.execute(self._hub.engine.extended(longer, by, now, actor))
        return {"request": longer.id, "deadline_at": longer.data.deadline_at}
