"""The agent processes that ask: those whose requests wait, and those that asked lately.

A command below an agent may not allow that agent's calls, nor switch the gate off or stop the core.
It could ask in the agent's name first, from a process of its own: so all that speak for a session
count for its requests. One that lost the way up to whoever started it could be below any of them. A
program that says the agent runs below it may run below an agent itself, which then counts, too.
What the core itself has started, a hook command or an extension, may do neither: its program may
lie in a folder that an agent writes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from watchgate.core.recent import Recent
from watchgate.service.identity.standing import Side, stand
from watchgate.service.peer import agent_of
from watchgate.service.process_table import Proc, ancestors, began, is_alive, itself

KEPT = 2_000
SESSIONS_KEPT = 500
ACCOUNTED_KEPT = 2_000

Session = tuple[str, str]
"""An agent's name and its session."""


class Askers:
    """Agent processes by the request that they wait for, and all that asked and are alive.

    From `limit` on, those that are gone are forgotten now and then. One that lives never is:
    however many others ask, it may not switch the gate. `alive` and `lineage` replace the look at
    the system.
    """

    def __init__(
        self,
        *,
        limit: int = KEPT,
        alive: Callable[[Proc], bool] = is_alive,
        lineage: Callable[[Proc], tuple[Proc, ...]] | None = None,
    ) -> None:
        self._capacity = self._limit = limit
        self._alive = alive
        self._lineage_of = lineage or _lineage
        self._lineage: dict[tuple[int, str], tuple[Proc, ...]] = {}
        self.accounted: Recent[Session, Proc] = Recent(ACCOUNTED_KEPT)
        self.first: Proc | None = None
        self.changed = False
        self._of_request: dict[str, set[Proc]] = {}
        self._session_of: dict[str, Session] = {}
        self._chains: dict[str, set[tuple[Proc, ...]]] = {}
        self._lately: dict[tuple[int, str], Proc] = {}
        self._sessions: dict[tuple[int, str], Recent[Session, None]] = {}
        self._driven: Recent[Session, None] = Recent(SESSIONS_KEPT)

    def note_agent(self, agent: Proc, session: Session | None = None) -> None:
        """Notes that an agent asked something, held or not, or reported a session of its own.

        Sessions are stored by process: however many one names, it displaces only its own.
        """
        key = agent.key
        if key not in self._lately:
            self._lineage[key] = self._lineage_of(agent)
        self._lately[key] = agent
        if self._is_first(agent):
            self.first, self.changed = agent, True
        if session is not None:
            self._sessions.setdefault(key, Recent(SESSIONS_KEPT)).renew(session, None)
            if (known := self.accounted.get(session)) is None or known.key != key:
                self.accounted.renew(session, agent)
                self.changed = True
        if len(self._lately) > self._limit:
            self._lately = {key: one for key, one in self._lately.items() if self._alive(one)}
            self._sessions = {
                key: named for key, named in self._sessions.items() if key in self._lately
            }
            self._lineage = {key: up for key, up in self._lineage.items() if key in self._lately}
            self._limit = max(self._capacity, 2 * len(self._lately))

    def note_driver(self, pid: int, session: Session) -> None:
        """Notes that a process above an agent reported a session; looks it up once for each."""
        self._driven.renew(session, None)
        if any(key[0] == pid and session in named for key, named in self._sessions.items()):
            return
        if (driver := itself(pid)) is not None:
            self.note_agent(driver, session)

    def is_driven(self, session: Session) -> bool:
        """Returns whether a process above the agent reported this session lately."""
        return session in self._driven

    def waits(
        self,
        request: str,
        agent: Proc,
        session: Session | None = None,
        chain: tuple[Proc, ...] = (),
    ) -> None:
        """Notes that the agent waits for the answer to this request, about a call of this session.

        `chain` is the way up from one that named itself, where agents may be that did not ask this.
        """
        self._of_request.setdefault(request, set()).add(agent)
        if chain:
            self._chains.setdefault(request, set()).add(chain)
        if session is not None:
            self._session_of[request] = session

    def settled(self, request: str | None) -> None:
        """Notes that nobody waits for this request any more."""
        self._of_request.pop(request or "", None)
        self._session_of.pop(request or "", None)
        self._chains.pop(request or "", None)

    def agents_of(self, request: str) -> set[Proc]:
        """Returns the agents that wait for this answer, and those that may have had it asked.

        These are all that spoke for the same session, or may be above one that named itself.
        """
        waiting = self._of_request.get(request, set())
        session = self._session_of.get(request)
        if not waiting or session is None:
            return waiting
        spoke = {self._lately[key] for key, named in self._sessions.items() if session in named}
        chains = self._chains.get(request, ())
        known = self._lately.values()
        above = {each for each in known if not all(_is_unrelated(chain, each) for chain in chains)}
        return waiting | spoke | above

    def asking_agent(self, pid: int) -> Proc | None:
        """Returns the agent that a client's calls count for: the longest known one above it.

        So an agent gains nothing by starting others, and takes nothing from those that were there
        before by asking from above them. None where the way up is lost, as for all that detached
        themselves.
        """
        chain = ancestors(pid)
        above = {(each.pid, each.start) for each in chain[1:]}
        known = (agent for key, agent in self._lately.items() if key in above)
        return next(known, None) or agent_of(chain)

    def known(self, request: str | None = None) -> tuple[tuple[Proc, ...], ...]:
        """Returns the agents that ask this, or else all; each with the processes that started it.

        Where nobody could tell who asks, it may be any of them. One that has ended counts only
        while a question of its waits.
        """
        agents = self.agents_of(request) if request is not None else set()
        waiting = self._waiting()
        count = [each for each in agents or self._all() if each in waiting or self._alive(each)]
        return tuple(self._lineage.get(each.key, (each,)) for each in count)

    def is_accounted(self, session: Session) -> bool:
        """Returns whether a process is or was known for this session."""
        return session in self.accounted

    def to_keep(self) -> tuple[tuple[Proc, Session], ...]:
        """Returns the agents to save: each session's process, and each process.

        A process is there with its newest session even where another one took all of its names.
        """
        pairs = {(one.key, session): one for session, one in self.accounted.items()}
        for key, named in self._sessions.items():
            pairs.setdefault((key, next(reversed(named))), self._lately[key])
        return tuple((one, session) for (_, session), one in pairs.items())

    def restore(self, agents: Iterable[tuple[Proc, Session]], first: Proc | None = None) -> None:
        """Takes over an earlier core's agents, `first` the agent that began before all others."""
        if first is not None and self._is_first(first):
            self.first = first
        for agent, session in agents:
            self.accounted.renew(session, agent)
            if self._alive(agent):
                self.note_agent(agent, session)
        self.changed = False

    def _is_first(self, agent: Proc) -> bool:
        return self.first is None or began(agent) < began(self.first)

    def _all(self) -> set[Proc]:
        return self._waiting().union(self._lately.values())

    def _waiting(self) -> set[Proc]:
        return {agent for agents in self._of_request.values() for agent in agents}


def _lineage(agent: Proc) -> tuple[Proc, ...]:
    """Returns the agent and the processes that started it; itself alone where that is gone."""
    chain = ancestors(agent.pid)
    return chain if chain and chain[0].key == agent.key else (agent,)


def _is_unrelated(chain: tuple[Proc, ...], agent: Proc) -> bool:
    """Returns whether a process is not the agent's, by anything that its ancestors show."""
    return stand(chain, Side(agents=((agent,),))).standing not in ("below", "adrift")
