"""A core that leaves records out by the real outbox, and answers for them by its history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Unpack

import anyio
import msgspec

from tests.ui.picture import NOW_US
from watchgate.core.model.records import Record
from watchgate.core.state.state import State
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.omitted_values import WholeSession
from watchgate.link.protocol import Push, Refusal, Result, Snapshot, Verb
from watchgate.link.snapshots import snapshot
from watchgate.service.control.caller import Outbox, RecordSampler

PAGE = 7


class Busy:
    """The core behind a console's connection; `whole` is what it would show itself."""

    def __init__(self, *, calls: int = 2, others: int = 2, rows: int = 3) -> None:
        self.whole = State()
        self.asked: list[Verb] = []
        self.refuses = False
        self._rows = rows
        self._records: list[Record] = []
        self._outbox = Outbox()
        self._outbox.sampler = RecordSampler(calls=calls, others=others)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[WholeSession]:
        """Connects, as a console does."""
        yield WholeSession(self, quiet_s=0)

    async def attach(self) -> Snapshot:
        self.asked.append("attach")
        return snapshot(self.whole, core="core", now_us=self.whole.at, rows=self._rows)

    async def batch(self) -> list[Push]:
        lines = (await self._outbox.take()).splitlines()
        return [msgspec.json.decode(line, type=Push) for line in lines]

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        await anyio.lowlevel.checkpoint()
        self.asked.append(verb)
        if self.refuses:
            return Refusal(id=0, refused="failed", message="the journal is lost")
        first, last = fields.get("from_seq") or 1, fields.get("to_seq") or 1
        page = self._records[first - 1 : min(last, first - 1 + PAGE)]
        return Result(id=0, ok={"records": msgspec.to_builtins(page)})

    def tell(self, kind: str, call: str | None = None, *, at_ms: int = 0, **data: Any) -> None:
        """Records one thing that happens in a session."""
        record = Record(
            v=1,
            seq=len(self._records) + 1,
            core="core",
            at=NOW_US + at_ms * 1_000,
            kind=kind,
            agent="codex",
            session="s",
            call=call,
            data={"native": "N", "lane": "observe", **data},
        )
        self._records.append(record)
        self.whole.apply(record)
        self._outbox.offer(record)

    def begins(self, call: str, *, at_ms: int = 0, risk: str = "medium") -> None:
        """A call that nobody is asked about."""
        told = {"tool": {"name": "Bash"}, "summary": f"run {call}", "gate": "recorded"}
        self.tell("tool.pre", call, at_ms=at_ms, risk=risk, **told)

    def ends(self, call: str, *, at_ms: int = 0) -> None:
        """Its result."""
        told = {"tool": {"name": "Bash"}, "summary": f"run {call}", "ok": True}
        self.tell("tool.post", call, at_ms=at_ms, **told)
