"""The verbs over one hub: those of every group, carried out or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watchgate import __version__
from watchgate.core.agent_state import AgentState
from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.records import CoreData
from watchgate.link.paths import Paths
from watchgate.link.protocol import Hello, Refusal, Request, Result
from watchgate.service.grant_store import GrantStore
from watchgate.service.hub import Hub
from watchgate.service.identity.presence import Presences
from watchgate.service.journal.schema import JournalError
from watchgate.service.policy.store import Policies
from watchgate.service.reload import Reload
from watchgate.service.verbs.caller import Caller, Do
from watchgate.service.verbs.deciding import Deciding
from watchgate.service.verbs.granting import Granting
from watchgate.service.verbs.looking import Looking
from watchgate.service.verbs.policy import Rules
from watchgate.service.verbs.proving import Proving
from watchgate.service.verbs.purging import Purging
from watchgate.service.verbs.refusing import Refusing
from watchgate.service.verbs.switching import Stop, Switching

KEY_VERBS = frozenset({"hello", "decide", "extend"})


class Kept(msgspec.Struct, frozen=True):
    """The core's parts beside its hub: grants on disk, policies, and rights of clients.

    `agents` reads the state of the agents on this machine; it is called in a thread.
    """

    store: GrantStore
    policies: Policies
    presences: Presences
    agents: Callable[[], Sequence[AgentState]] = tuple


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
        stores: Kept,
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
        self._refusing = Refusing(hub, clock)
        self._looking = Looking(
            hub, clock, core=core, journal=journal, hello=self.hello, agents=stores.agents
        )
        groups = (
            self._looking,
            Deciding(hub, clock, journal=journal, store=store, tokens=presences.tokens),
            Granting(hub, clock, journal=journal, store=store),
            Rules(hub, stores.policies),
            Purging(hub, clock, journal=journal, forget=forget),
            Proving(hub, clock, presences, changed=self._looking.count_consoles),
            Switching(hub, clock, off=paths.off, stop=stop, reload=reload),
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
