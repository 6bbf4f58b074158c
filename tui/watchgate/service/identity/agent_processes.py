"""The agent processes that ask: those whose requests wait, and those that asked lately.

A command below an agent may not allow that agent's calls, nor switch the gate off or stop the core.
It could ask in the agent's name first, from a process of its own: so all that speak for a session
count for its requests. One that lost the way up to whoever started it could be below any of them. A
program that says the agent runs below it may run below an agent itself, which then counts, too.
What the core itself has started, a hook command or an extension, may do neither: its program may
lie in a folder that an agent writes to.

- `agents.json` in the state directory: the agents' processes, for a core that restarts. A process
  counts by its pid and its start, and only until the machine is started again.
- The agents on disk: each new process is there before it gets any answer. So a core that is killed
  and started again knows every agent that was ever answered. It costs one small file for each new
  process, not for each call; more sessions of one are written in a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.bounded import Recent
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.service.identity.ancestry import agent_of
from watchgate.service.identity.standing import AgentSide, standing_of
from watchgate.service.system import safe_files
from watchgate.service.system.off_switch import boot_id
from watchgate.service.system.process_table import Proc, ancestors, began, is_alive, itself

MAX_AGENTS = 2_000
MAX_SESSIONS = 500
MAX_ACCOUNTED = 2_000

Session = tuple[str, str]
"""An agent's name and its session."""


class AgentProcesses:
    """Agent processes by the request that they wait for, and all that asked and are alive.

    From `limit` on, those that are gone are forgotten now and then. One that lives never is:
    however many others ask, it may not switch the gate. `alive` and `lineage` replace the look at
    the system.
    """

    def __init__(
        self,
        *,
        limit: int = MAX_AGENTS,
        alive: Callable[[Proc], bool] = is_alive,
        lineage: Callable[[Proc], tuple[Proc, ...]] | None = None,
    ) -> None:
        self._capacity = self._limit = limit
        self._alive = alive
        self._lineage_of = lineage or _lineage
        self._lineage: dict[tuple[int, str], tuple[Proc, ...]] = {}
        self.accounted: Recent[Session, Proc] = Recent(MAX_ACCOUNTED)
        self.first: Proc | None = None
        self.changed = False
        self._of_request: dict[str, set[Proc]] = {}
        self._session_of: dict[str, Session] = {}
        self._chains: dict[str, set[tuple[Proc, ...]]] = {}
        self._lately: dict[tuple[int, str], Proc] = {}
        self._sessions: dict[tuple[int, str], Recent[Session, None]] = {}
        self._driven: Recent[Session, None] = Recent(MAX_SESSIONS)

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
            self._sessions.setdefault(key, Recent(MAX_SESSIONS)).renew(session, None)
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
    return standing_of(chain, AgentSide(agents=((agent,),))).standing not in ("below", "adrift")


class _Process(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    start: str
    comm: str


class _Agent(_Process, frozen=True, kw_only=True):
    agent: str
    session: str


class _AgentsFile(msgspec.Struct, frozen=True, kw_only=True):
    boot: str
    agents: tuple[_Agent, ...] = ()
    first: _Process | None = None
    version: int = 1


class AgentsFileError(Exception):
    """The file cannot be read; the message says why."""


class SavedAgents(NamedTuple):
    """The processes with their sessions, and the one that began before all others, alive or not."""

    known: tuple[tuple[Proc, Session], ...] = ()
    first: Proc | None = None


def load_agents(path: Path) -> SavedAgents:
    """Returns the agents that an earlier core knew; raises `AgentsFileError`.

    A process from before the machine was started again is no process of now, and its session is
    over.
    """
    try:
        agents_file = decoding.decode(safe_files.read_own_file(path), _AgentsFile)
        is_over = agents_file.boot != boot_id()
    except FileNotFoundError:
        return SavedAgents()
    except (OSError, *JSON_FAULTS) as fault:
        raise AgentsFileError(f"{path}: {fault}") from None
    known = tuple(
        (Proc(0, "", each.comm) if is_over else _as_proc(each), (each.agent, each.session))
        for each in agents_file.agents
    )
    first = None if is_over or agents_file.first is None else _as_proc(agents_file.first)
    return SavedAgents(known, first)


def save_agents(path: Path, agents: SavedAgents) -> None:
    """Writes them to disk, replacing the file in one step. Raises `OSError`."""
    entries = tuple(
        _Agent(pid=one.pid, start=one.start, comm=one.comm, agent=agent, session=session)
        for one, (agent, session) in agents.known
    )
    one = agents.first
    first = None if one is None else _Process(pid=one.pid, start=one.start, comm=one.comm)
    safe_files.replace_own_file(
        path, msgspec.json.encode(_AgentsFile(boot=boot_id(), agents=entries, first=first))
    )


def _as_proc(process: _Process) -> Proc:
    return Proc(process.pid, process.start, process.comm)


LOOK_S = 0.25
"""Seconds between looks for more sessions of known agents."""


class AgentsOnDisk:
    """The agents of one core on its disk; `failed` gets the reason why they cannot be written."""

    def __init__(self, path: Path, askers: AgentProcesses, failed: Callable[[str], None]) -> None:
        self._path = path
        self._askers = askers
        self._failed = failed
        self._on_disk: set[tuple[int, str]] = set()
        self._pending: list[Callable[[], None]] = []
        self._is_due = anyio.Event()

    def load(self) -> None:
        """Takes over an earlier core's agents; raises `AgentsError`."""
        agents = load_agents(self._path)
        self._askers.restore(*agents)
        self._on_disk = {agent.key for agent, _ in agents.known}

    def once_saved(self, agent: Proc, then: Callable[[], None]) -> None:
        """Calls back when this agent is on disk, or cannot be put there; at once if it is."""
        if agent.key in self._on_disk:
            then()
            return
        self._pending.append(then)
        self._is_due.set()

    async def run(self) -> None:
        """Writes new agents, until cancelled."""
        while True:
            with anyio.move_on_after(LOOK_S):
                await self._is_due.wait()
            self._is_due = anyio.Event()
            if self._askers.changed or self._pending:
                await self._save()

    async def _save(self) -> None:
        pending, self._pending = self._pending, []
        self._askers.changed = False
        agents = SavedAgents(self._askers.to_keep(), self._askers.first)
        try:
            await anyio.to_thread.run_sync(save_agents, self._path, agents)
        except (OSError, RuntimeError, MemoryError) as fault:
            # Without memory no thread can be started: the calls that wait go on all the same.
            self._failed(getattr(fault, "strerror", None) or str(fault))
        else:
            self._on_disk = {agent.key for agent, _ in agents.known}
        for then in pending:
            then()
