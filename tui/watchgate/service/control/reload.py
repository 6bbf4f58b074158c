"""Reload of a changed configuration: the core starts over, and whoever asks meanwhile waits.

The listening sockets outlive it: the system keeps those who connect in a queue, where the new core
finds them. A call that waits for an answer has nobody who could give it afterwards, so the core
first accepts no new one and lets the others end; where one does not, it goes on as it was.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import SocketListener, TaskGroup

from watchgate.core.config.config import Config, ConfigError, effective
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.actor import Actor
from watchgate.link.paths import Paths
from watchgate.service.admission.socket_shares import accept_connections
from watchgate.service.hub.components import ComponentError, build_components
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.ingest import Ingest
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.system.runtime_dir import RuntimeDirError
from watchgate.service.wire.agent_adapters import AgentsError, adapters

DRAIN_S = 2.0
"""So long the calls that are being judged may take to end."""

Renew = Callable[[Config, str, Actor | None], None]
"""Has a core start over with a configuration, for whom, and for which process."""

Reread = Callable[[], Config]
"""Reads the configuration again, with what the command line said; raises `ConfigError`."""

_LOOK_S: Final = 0.01
_FAULTS: Final = (ConfigError, RuntimeDirError, ComponentError, AgentsError)


class HookListener:
    """Accepts hooks over one listening socket, which `bind` gives as often as it is asked."""

    def __init__(
        self, hub: Hub, tasks: TaskGroup, bind: Callable[[], socket.socket], ends: anyio.Event
    ) -> None:
        """Takes `ends`, which is set once this core ends: it accepts nobody again from then on."""
        self.ingest = Ingest(hub, asker_of=hub.askers.asking_agent)
        self._hub = hub
        self._tasks = tasks
        self._bind = bind
        self._ends = ends
        self._listener: SocketListener | None = None

    async def open(self) -> None:
        """Accepts hooks from now on."""
        self._listener = await SocketListener.from_socket(self._bind())
        handle, troubled = self.ingest.handle, self._hub.cannot_accept
        self._tasks.start_soon(accept_connections, self._listener, handle, troubled)

    async def aclose(self) -> None:
        """Accepts none any more; those that are in go on."""
        if self._listener is not None:
            await self._listener.aclose()

    async def close_idle(self) -> bool:
        """Closes once nobody waits for an answer; returns whether that was so in time.

        Waiting clients no longer count once the core ends.
        """
        await self.aclose()
        with anyio.move_on_after(DRAIN_S):
            while self._waits:  # noqa: ASYNC110 - two seconds at most, before a core starts over
                await anyio.sleep(_LOOK_S)
        if self._waits:
            await self.open()
            return False
        return True

    @property
    def _waits(self) -> bool:
        return not self._ends.is_set() and (self.ingest.may_ask or self._hub.waits)


class Reload:
    """The part of a core's run that the verb `config` asks."""

    def __init__(
        self,
        hub: Hub,
        close_idle: Callable[[], Awaitable[bool]],
        paths: Paths,
        reread: Reread | None,
        renew: Renew,
    ) -> None:
        """Takes the means to start over.

        Args:
            hub: The hub.
            close_idle: That of a `HookListener`.
            paths: This core's files and directories.
            reread: Reads the configuration again; None where another program hosts the core.
            renew: Has the core start over; raises `Refused` where it ends already.
        """
        self._hub = hub
        self._close_idle = close_idle
        self._paths = paths
        self._reread = reread
        self._renew = renew
        self._under_way = False

    def changes(self) -> dict[str, Any]:
        """Returns the keys whose values in the file differ from this core's, and its profile.

        Raises `Refused`. Keys for consoles alone are left out, for they read the file themselves.
        Anybody may ask this, so nothing that the file names is opened or loaded.
        """
        return self._changes(self._read())

    async def __call__(self, by: str, actor: Actor) -> dict[str, Any]:
        """Starts over with the file as it is now; returns the changes.

        Raises `Refused` where that would deny a call. It loads the code that the file names, so
        only a person may ask for it.
        """
        # Of two, one would let hooks in again while the other starts over.
        if self._under_way:
            raise Refused("not_offered", "another reload is under way: try again in a moment")
        self._under_way = True
        try:
            return await self._start_over(by, actor)
        finally:
            self._under_way = False

    async def _start_over(self, by: str, actor: Actor) -> dict[str, Any]:
        config = self._read()
        if count := len(self._hub.engine.broker.open):
            waiting = "1 request waits" if count == 1 else f"{count} requests wait"
            raise Refused("not_offered", f"{waiting}, and would be denied: decide first")
        self._check(config)
        changes = self._changes(config)
        if not await self._close_idle():
            raise Refused("not_offered", "a call is being judged: try again in a moment")
        self._renew(config, f"{by}, with another configuration", actor)
        return changes

    def _changes(self, config: Config) -> dict[str, Any]:
        now = {key: value for key, value, _ in effective(self._in_force(), {})}
        then = {key: value for key, value, _ in effective(config, {})}
        keys = sorted(key for key in now.keys() | then.keys() if not key.startswith("ui."))
        changed = [key for key in keys if now.get(key) != then.get(key)]
        return {"changes": changed, "profile": config.profile}

    def _in_force(self) -> Config:
        engine = self._hub.engine
        return msgspec.structs.replace(engine.config, profile=engine.profile)

    def _read(self) -> Config:
        if self._reread is None:
            raise Refused("not_offered", "another program hosts this core: start that again")
        try:
            return self._reread()
        except _FAULTS as fault:
            raise _as_it_was(fault) from None

    def _check(self, config: Config) -> None:
        """Raises `Refused` for a configuration that no core can start with."""
        try:
            build_components(config, self._paths, os.environ, ChildPool(), prints=True)
            adapters(self._paths, config)
        except _FAULTS as fault:
            raise _as_it_was(fault) from None


def _as_it_was(fault: Exception) -> Refused:
    return Refused("bad_request", f"{fault}; the core goes on as it was")
