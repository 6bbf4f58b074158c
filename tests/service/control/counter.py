"""The verbs over a hub, for tests that ask as a control client does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.service.desk import Desk, places
from tests.service.proofs import presences_of
from watchgate.core.config.config import Config
from watchgate.core.model.agent_state import AgentState
from watchgate.core.policy.rules.profiles import Profile
from watchgate.link.protocol import Refusal, Request, Result, Verb
from watchgate.service.control.caller import Caller, Outbox
from watchgate.service.control.reload import Reload
from watchgate.service.control.verb_table import Verbs, VerbStores
from watchgate.service.hub.grant_sync import GrantStore
from watchgate.service.policies.policy_store import Policies
from watchgate.service.system.process_table import Proc

AGENT = Proc(40, "400", "claude", ("claude",))
TERMINAL = Proc(10, "100", "bash", sid=10, tty=1)


class Counter:
    """The verbs over a hub, asked as the operator asks unless said otherwise."""

    def __init__(self, directory: Path, profile: Profile = "guard") -> None:
        self.desk = Desk(profile)
        self.grants = directory / "grants.json"
        self.off = directory / "off"
        self.policy = directory / "policy.toml"
        self.stopped: list[str] = []
        self.forgot: list[str] = []
        self.idle = True
        self.agents: Callable[[], Sequence[AgentState]] = tuple
        self.config = msgspec.structs.replace(self.desk.hub.engine.config, profile=profile)
        self.renewed: list[Config] = []
        self.desk.agents[7] = AGENT
        self.presences = presences_of(self.desk, directory)
        self.operator = self.caller(Proc(50, "500", "watchgate", sid=10, tty=1), TERMINAL)
        self.verbs = Verbs(
            self.desk.hub,
            self.desk.clock,
            core="core-a",
            paths=places(directory),
            stop=lambda by, _actor: self.stopped.append(by),
            reload=self._reload(directory),
            stores=VerbStores(
                GrantStore(self.grants, self.desk.hub.engine.grants.permanent),
                Policies(((self.policy, "user"),)),
                self.presences,
                self._agents,
            ),
            forget=lambda: self.forgot.append("the index"),
        )

    def _agents(self) -> Sequence[AgentState]:
        return self.agents()

    def _reload(self, directory: Path) -> Reload:
        async def close_idle() -> bool:
            return self.idle

        return Reload(
            self.desk.hub,
            close_idle,
            places(directory),
            lambda: self.config,
            lambda config, _by, _actor: self.renewed.append(config),
        )

    def caller(self, *chain: Proc, number: int = 3) -> Caller:
        return Caller(number=number, pid=50, chain=chain, outbox=Outbox(), presences=self.presences)

    async def ask(
        self, verb: Verb, caller: Caller | None = None, **fields: Any
    ) -> Result | Refusal:
        request = Request(id=1, verb=verb, **fields)
        return await self.verbs.do(request, caller or self.operator)

    async def ok(self, verb: Verb, caller: Caller | None = None, **fields: Any) -> dict[str, Any]:
        answer = await self.ask(verb, caller, **fields)
        assert isinstance(answer, Result), answer
        return answer.ok

    async def refused(self, verb: Verb, caller: Caller | None = None, **fields: Any) -> Refusal:
        answer = await self.ask(verb, caller, **fields)
        assert isinstance(answer, Refusal), answer
        return answer

    async def held(self, command: str = "high", **more: Any) -> dict[str, Any]:
        """A request that waits, as `ls` lists it."""
        self.desk.send(command, **more)
        found: dict[str, Any] = (await self.ok("list"))["requests"][-1]
        return found
