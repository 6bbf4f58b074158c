"""What passes by a proxy is told to the core beside it, however busy the core is."""

from __future__ import annotations

from typing import cast

import anyio
import anyio.lowlevel

from watchgate.agents.proxied import ObservedMessage
from watchgate.service.bridges import core_client
from watchgate.service.bridges.core_client import EventForwarder, IngestClient


class Core:
    """A core that notes what it is told, and how long it is given for that."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.limits_s: list[float] = []

    async def tell(self, seen: ObservedMessage, *, within_s: float) -> bool:
        await anyio.lowlevel.checkpoint()
        self.told.append(seen.native)
        self.limits_s.append(within_s)
        return True


async def test_a_busy_core_has_longer_than_an_agent_would_wait_for_an_observer() -> None:
    core = Core()
    teller = EventForwarder(cast("IngestClient", core))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(teller.run)
        teller.add(ObservedMessage("first", b"{}"))
        teller.add(ObservedMessage("second", b"{}"))
        await teller.caught_up()
        tasks.cancel_scope.cancel()
    assert (core.told, teller.lost) == (["first", "second"], 0)
    assert min(core.limits_s) > 10 * core_client.OBSERVER_BUDGET_S
