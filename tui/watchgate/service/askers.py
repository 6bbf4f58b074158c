"""Which agents ask: the ones whose requests wait, and the ones that asked lately.

A command below an agent may not allow that agent's calls, nor switch the gate off or stop the core.
One that lost the way up to whoever started it could be below any of them. What the core itself has
started, a hook command or an extension, may do neither: its program may lie in a folder that an
agent writes to.
"""

from __future__ import annotations

from collections.abc import Callable

from watchgate.service.origin import is_clear, may_have_left
from watchgate.service.process_table import Proc, is_alive

KEPT = 2_000


class Askers:
    """Agent processes by the request that they wait for, and all that asked and are alive.

    From `kept` on, those that are gone are forgotten now and then. One that lives never is: however
    many others ask, it may not switch the gate. `core_pid` is the core's own process, if what runs
    below it is to be told apart; `starter` is that process where it runs handlers or extensions.
    """

    def __init__(
        self,
        *,
        kept: int = KEPT,
        alive: Callable[[Proc], bool] = is_alive,
        core_pid: int = 0,
        starter: Proc | None = None,
    ) -> None:
        self._kept = self._limit = kept
        self._alive = alive
        self._core_pid = core_pid
        self._starter = starter
        self._of_request: dict[str, set[Proc]] = {}
        self._lately: dict[tuple[int, str], Proc] = {}

    def seen(self, agent: Proc) -> None:
        """An agent asked something, whether or not that is held."""
        self._lately[agent.pid, agent.start] = agent
        if len(self._lately) > self._limit:
            self._lately = {key: one for key, one in self._lately.items() if self._alive(one)}
            self._limit = max(self._kept, 2 * len(self._lately))

    def waits(self, request: str, agent: Proc) -> None:
        """The agent waits for the answer to this request."""
        self._of_request.setdefault(request, set()).add(agent)

    def settled(self, request: str | None) -> None:
        """Nobody waits for this request any more."""
        self._of_request.pop(request or "", None)

    def agents_of(self, request: str) -> set[Proc]:
        """The agents that are known to wait for the answer to this request."""
        return self._of_request.get(request, set())

    def may_decide(self, chain: tuple[Proc, ...], request: str) -> bool:
        """Whether a client with these ancestors is known and not below an agent that asks this.

        Where nobody could tell who asks, it may be below no agent at all.
        """
        return not self._is_ours(chain) and is_clear(chain, self.agents_of(request) or self._all())

    def may_switch(self, chain: tuple[Proc, ...]) -> bool:
        """Whether a client with these ancestors is known and not below any agent that asked."""
        return not self._is_ours(chain) and is_clear(chain, self._all())

    def _is_ours(self, chain: tuple[Proc, ...]) -> bool:
        """Whether the client runs below the core: a hook, which may lie where an agent writes."""
        if self._core_pid in {each.pid for each in chain[1:]}:
            return True
        # One that detached itself stays behind, older than the agents that come after it.
        return self._starter is not None and may_have_left(chain, self._starter)

    def _all(self) -> set[Proc]:
        waiting = {agent for agents in self._of_request.values() for agent in agents}
        return waiting.union(self._lately.values())
