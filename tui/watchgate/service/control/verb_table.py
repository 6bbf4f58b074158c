"""The verbs over one hub: those of every group, carried out or refused.

Records and alarms of attempts that were refused to clients without a person's proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from watchgate import __version__
from watchgate.core.base.clock import Clock
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.agent_state import AgentState
from watchgate.core.model.records import CoreData, Draft
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.presence.attempts import (
    ALARM,
    KIND,
    AttemptData,
    Attempts,
    doing,
    summary_of,
    who,
)
from watchgate.link.paths import Paths
from watchgate.link.protocol import Hello, Refusal, Request, Result
from watchgate.service.control.caller import Caller, Do
from watchgate.service.control.decision_verbs import DecisionVerbs, GrantVerbs
from watchgate.service.control.operator_verbs import PolicyVerbs, PurgeVerbs, Stop, SwitchVerbs
from watchgate.service.control.proof_verbs import ProofVerbs
from watchgate.service.control.query_verbs import QueryVerbs
from watchgate.service.control.reload import Reload
from watchgate.service.hub.grant_sync import GrantStore
from watchgate.service.hub.hub import Hub
from watchgate.service.identity.presence import Presences
from watchgate.service.identity.standing import leader_of
from watchgate.service.journal.schema import JournalError
from watchgate.service.policies.policy_store import Policies

CODES: Final = frozenset({"self_approval", "locked"})


class AttemptRecorder:
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


KEY_VERBS = frozenset({"hello", "decide", "extend"})


class VerbStores(msgspec.Struct, frozen=True):
    """The core's parts beside its hub: grants on disk, policies, and rights of clients.

    `agents` reads the state of the agents on this machine; it is called in a thread. `titles` are
    the names of agents in a sentence.
    """

    store: GrantStore
    policies: Policies
    presences: Presences
    agents: Callable[[], Sequence[AgentState]] = tuple
    titles: Mapping[str, str] = {}


class Verbs:
    """The verbs over one hub."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        *,
        core: str,
        paths: Paths,
        stop: Stop,
        reload: Reload,
        stores: VerbStores,
        forget: Callable[[], None],
    ) -> None:
        """Takes the parts of one core.

        Args:
            hub: The hub.
            clock: The clock.
            core: The core's id.
            paths: Its files and directories.
            stop: Ends the core.
            reload: Starts over with the changed configuration.
            stores: Grants, policies, rights and agents.
            forget: Drops the words of purged records from the journal's index.
        """
        store, presences = stores.store, stores.presences
        self.presences = presences
        self._hub = hub
        self._clock = clock
        self._core = core
        self._boot = clock.now().wall_us
        journal = paths.journal
        self._refusing = AttemptRecorder(hub, clock)
        self._looking = QueryVerbs(
            hub,
            clock,
            core=core,
            journal=journal,
            hello=self.hello,
            agents=stores.agents,
            titles=stores.titles,
        )
        groups = (
            self._looking,
            DecisionVerbs(hub, clock, journal=journal, store=store, tokens=presences.tokens),
            GrantVerbs(hub, clock, journal=journal, store=store),
            PolicyVerbs(hub, stores.policies),
            PurgeVerbs(hub, clock, journal=journal, forget=forget),
            ProofVerbs(hub, clock, presences, changed=self._looking.count_consoles),
            SwitchVerbs(hub, clock, off=paths.off, stop=stop, reload=reload),
        )
        self._verbs: dict[str, Do] = {
            verb: do for group in groups for verb, do in group.table().items()
        }

    def hello(self) -> Hello:
        """Returns the core's first line."""
        return Hello(
            watchgate=__version__,
            core=self._core,
            boot=self._boot,
            seq=self._hub.recorder.state.seq,
            profile=self._hub.engine.profile,
        )

    async def do(self, request: Request, caller: Caller) -> Result | Refusal:
        """Carries a request out, or returns the refusal."""
        self._hub.catch_up()
        if request.verb in KEY_VERBS and caller.number in self._looking.consoles:
            self._hub.engine.status.last_key_s = self._clock.now().mono_s
        try:
            return Result(id=request.id, ok=await self._verbs[request.verb](request, caller))
        except Refused as refused:
            self._refusing.refused(request, caller, refused.code)
            end = refused.settlement
            return Refusal(
                id=request.id,
                refused=refused.code,
                message=str(refused),
                by=end.by if end else None,
                at=end.at.wall_us if end else None,
                word=end.word if end else None,
                wait_s=refused.wait_s,
            )
        except (JournalError, OSError) as fault:
            return Refusal(id=request.id, refused="failed", message=str(fault))

    def failed(self, fault: str, caller: Caller) -> None:
        """Records that this program failed over a request."""
        self._hub.recorder.internal_error(fault, f"control client pid {caller.pid}")

    def gone(self, caller: Caller) -> None:
        """Notes that a client went away."""
        self._hub.catch_up()
        self._hub.recorder.watchers.discard(caller.outbox)
        if caller.console:
            data = CoreData(what="console", name=caller.name(None))
            self._hub.recorder.about_core("console.detached", data)
            self._looking.left(caller)
