"""Several cores that live in the test, behind one bridge."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import msgspec

from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import NOW_US
from watchgate.core.model.records import Record
from watchgate.core.model.views import GateView
from watchgate.link.protocol import Snapshot
from watchgate.ui.fleet.fleet_source import FleetSource
from watchgate.ui.source.core_bridge import Bridge

LONG_S = 300


def empty(seq: int = 10, *, now: int = NOW_US, core: str = "core") -> Snapshot:
    """A core that nothing was told yet."""
    return Snapshot(seq=seq, core=core, now=now, gate=GateView())


def record(seq: int, kind: str, *, at: int = NOW_US, **fields: object) -> Record:
    """A record of a session of Claude Code, unless the fields say otherwise."""
    about = {"agent": "claude", "session": "s1", **fields}
    return msgspec.convert(
        {"v": 1, "seq": seq, "core": "core", "at": at, "kind": kind, **about}, Record
    )


def core_record(seq: int, kind: str, **data: object) -> Record:
    """A record of the core itself."""
    return Record(v=1, seq=seq, core="core", at=NOW_US, kind=kind, data={"what": kind, **data})


def _tool(command: str) -> dict[str, object]:
    return {
        "name": "Bash",
        "native_name": "Bash",
        "cls": "shell",
        "input": {"command": command},
        "input_hash": command,
    }


def call(seq: int, ref: str, *, cwd: str = "/src/api", session: str = "s1") -> Record:
    """A call that the gate has seen."""
    tool = _tool(ref)
    data = {
        "native": "PreToolUse",
        "lane": "gate",
        "tool": tool,
        "summary": ref,
        "gate": "held",
        "risk": "high",
        "cwd": cwd,
    }
    return record(seq, "tool.pre", session=session, call=ref, data=data)


def asked(seq: int, request: str, ref: str, *, session: str = "s1", deadline_at: int = 0) -> Record:
    """A request about a call."""
    tool = _tool(ref)
    data = {
        "digest": f"digest of {request}",
        "lane": "gate",
        "native": "PreToolUse",
        "tool": tool,
        "summary": ref,
        "risk": "high",
        "rule": "r",
        "reason": "why",
        "cwd": "/src/api",
        "deadline_at": deadline_at or NOW_US + LONG_S * 1_000_000,
        "timeout_s": LONG_S,
        "agent_pid": 77,
        "env": {"TMUX_PANE": "%3"},
    }
    return record(seq, "approval.requested", session=session, call=ref, request=request, data=data)


def decided(seq: int, request: str, ref: str, *, session: str = "s1") -> Record:
    """The end of a request."""
    data = {"word": "denied-by-operator", "by": "operator ana", "waited_s": 2.0}
    return record(seq, "approval.decided", session=session, call=ref, request=request, data=data)


class Fleet:
    """A bridge on several fake cores, and the sleeps that were asked for."""

    def __init__(self, *names: str, clock: FakeClock | None = None, local: bool = True) -> None:
        self.clock = clock or FakeClock(NOW_US)
        self.cores = {name: FakeSource(empty(core=f"core-{name}")) for name in names}
        self.source = FleetSource(
            self.cores, self.clock, local=local, sleep=self._sleep, titles={"claude": "Claude"}
        )
        self.bridge = Bridge(self.source, self.clock, self._wake, self._sleep)
        self.woken = 0
        self.slept: list[float] = []
        self._go_on = anyio.Event()

    def _wake(self) -> None:
        self.woken += 1

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self._go_on.wait()

    def wait_over(self) -> None:
        """Lets all waiting end."""
        self._go_on.set()
        self._go_on = anyio.Event()

    def stands(self, name: str) -> str:
        """How a host stands in the picture."""
        host = self.bridge.state.hosts.get(name)
        return host.state if host is not None else ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follows until the block ends, once every core that is there has answered."""
        there = [name for name, core in self.cores.items() if not core.absent]
        async with self.running_with(*there):
            yield

    @asynccontextmanager
    async def running_with(self, *names: str) -> AsyncIterator[None]:
        """Follows until the block ends, once these cores have answered."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.bridge.run)
            await until(lambda: all(self.stands(name) == "attached" for name in names))
            yield
            tasks.cancel_scope.cancel()


async def until(ready: Callable[[], object]) -> None:
    """Lets tasks run until something is so."""
    for _ in range(20_000):
        if ready():
            return
        await anyio.lowlevel.checkpoint()
    raise AssertionError("it did not come about")
