"""A core in the test's own loop that follows transcripts which the test writes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import msgspec

from tests.core.builders import START
from watchgate.agents.usage import usage_places
from watchgate.core.config.config import Config
from watchgate.core.config.config_sections import CostsConfig, PriceConfig
from watchgate.core.model.records import COUNTED, Record
from watchgate.core.state.state import State
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.session_usage import SessionUsage
from watchgate.core.usage.usage_summary import counted_rows
from watchgate.link.control_client import connect
from watchgate.link.paths import Paths
from watchgate.link.snapshots import restored
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import Environment
from watchgate.service.journal import journal_reader
from watchgate.service.prices.prices import Prices
from watchgate.service.system.local_days import local_day
from watchgate.service.system.system_clock import FakeClock
from watchgate.service.usage.usage_files import UsageFiles

WAIT_S = 20.0
PRICE = PriceConfig(model="house-model", input=1.0, output=10.0, cache_read=0.1)
NANO_IN, NANO_OUT = 1_000, 10_000
"""Nano-dollars of a token by that price."""


class Living:
    """A home folder with transcripts of Claude Code, and a core that follows them."""

    def __init__(self, runtime_dir: Path, state_dir: Path, home: Path, **costs: Any) -> None:
        self.paths = Paths(
            runtime_dir=runtime_dir,
            state_dir=state_dir,
            config=state_dir / "config.toml",
            data_dir=state_dir,
        )
        self.clock = FakeClock(START)
        self.folder = home / ".claude" / "projects" / "-src-demo"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._places = usage_places({}, str(home))
        self._config = Config(costs=CostsConfig(**costs), price=(PRICE,))
        self._count = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        stage = Environment(
            ids=lambda: "k" * 26,
            home=str(self.folder.parents[2]),
            protected=(),
            agent_of=lambda _pid: None,
            scripted=True,
            places=self._places,
        )
        host = CoreHost(self.paths, self._config, self.clock, stage)
        async with anyio.create_task_group() as tasks:
            await tasks.start(host.run)
            yield
            host.stop("the test")

    def file(self, session: str, sub: str = "") -> Path:
        """Where a session's transcript lies, or that of its sub-agent."""
        if not sub:
            return self.folder / f"{session}.jsonl"
        path = self.folder / session / "subagents" / f"agent-{sub}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def line(self, session: str, *, output: int, sub: str = "", ago_s: int = 60) -> bytes:
        """One more call of a model, as a transcript tells of it."""
        self._count += 1
        at = datetime.fromtimestamp(START.wall_us // 1_000_000 - ago_s, UTC)
        told = {
            "type": "assistant", "sessionId": session, "uuid": f"u{self._count}",
            "timestamp": at.isoformat().replace("+00:00", "Z"), "cwd": "/src/demo",
            "requestId": f"req_{self._count}", "isSidechain": bool(sub), "agentId": sub,
            "message": {
                "id": f"msg_{self._count}", "model": PRICE.model, "stop_reason": "end_turn",
                "usage": {"input_tokens": 100, "output_tokens": output},
                "content": [{"type": "tool_use", "id": f"toolu_{self._count}"}],
            },
        }  # fmt: skip
        return json.dumps(told).encode() + b"\n"

    def write(self, session: str, *outputs: int, sub: str = "", ago_s: int = 60) -> None:
        """Adds calls with so much output to a transcript."""
        with self.file(session, sub).open("ab") as file:
            for output in outputs:
                file.write(self.line(session, output=output, sub=sub, ago_s=ago_s))

    async def tell(self, session: str, **usage: Any) -> None:
        """A source of one's own tells of usage on the socket."""
        line = {"watchgate": 1, "kind": "usage", "agent": "claude", "session": session}
        line["usage"] = {"type": "usage", **usage}
        async with await anyio.connect_unix(self.paths.ingest_socket) as stream:
            await stream.send(msgspec.json.encode(line) + b"\n")

    async def state(self) -> State:
        """What a console that attaches now would show."""
        async with connect(self.paths.control_socket) as client:
            return restored(await client.attach())

    async def until(self, holds: Callable[[SessionUsage], object], session: str) -> SessionUsage:
        """The usage of a session, as soon as something holds of it."""
        with anyio.fail_after(WAIT_S):
            while True:
                seen = (await self.state()).usage.sessions.get(("claude", session))
                if seen is not None and holds(seen):
                    return seen
                await anyio.sleep(0.02)

    def records(self, kind: str = COUNTED) -> list[Record]:
        found = journal_reader.read(self.paths.journal, 1, 100_000)
        return [record for record in found if record.kind == kind]

    def counted_anew(self, session: str) -> Any:
        """The rows of a session by a ledger that has read all files at once."""
        ledger = Ledger(Prices((PRICE,)).tariff_of, local_day)
        book = UsageFiles(self._places, ledger)
        book.look()
        assert book.refresh() == 0
        return counted_rows(ledger.rows(("claude", session)))


def cost_of(*outputs: int) -> int:
    """What calls with so much output cost, in nano-dollars."""
    return sum(100 * NANO_IN + output * NANO_OUT for output in outputs)
