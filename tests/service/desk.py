"""A hub with a clock, a journal and connections that a test moves by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.core.builders import START
from tests.core.world import Rules
from watchgate.agents.agent_facts import traits_in
from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS
from watchgate.core.chain.hash_chain import START as EMPTY
from watchgate.core.chain.hash_chain import Chain, JournalRow
from watchgate.core.config.config import Approval, Config
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.model.events import Lane
from watchgate.core.model.records import Record
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.state.state import State
from watchgate.link.paths import Paths
from watchgate.service.history.session_purge import empty_log
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.interfaces import Loop, PendingReply
from watchgate.service.identity.agent_processes import AgentProcesses
from watchgate.service.journal.recorder import Recorder
from watchgate.service.system.process_table import Proc
from watchgate.service.system.system_clock import FakeClock
from watchgate.service.wire.framing import FrameHead


class Paper:
    """A journal in memory, whose commits a test carries out, unless they are done `at_once`."""

    def __init__(self) -> None:
        self.at_once = False
        self.room = 50_000
        self.lost = self.foreign = ""
        self.path = Path("journal.db")
        self.rows: list[JournalRow] = []
        self.purged: list[int] = []
        self.asked: list[Callable[[bool], object]] = []

    def append(self, row: JournalRow) -> None:
        self.rows.append(row)

    def extend(self, rows: Sequence[JournalRow]) -> None:
        self.rows += rows

    def purge(self, row: JournalRow, seqs: Sequence[int]) -> None:
        self.rows.append(row)
        self.purged += seqs

    def empty_log(self, callback: Callable[[bool], object]) -> None:
        callback(empty_log(self.path))

    def commit(self, callback: Callable[[bool], object]) -> None:
        if self.at_once:
            callback(True)
        else:
            self.asked.append(callback)

    def written(self, ok: bool = True) -> None:
        """The disk answers for everything that waits for it."""
        asked, self.asked = self.asked, []
        for callback in asked:
            callback(ok)


class Console:
    """An attached console that keeps what it is offered."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def offer(self, record: Record) -> None:
        self.records.append(record)


class Runs:
    """Takes the handlers that are to be run, and lets a test say what they said."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, Invoke]] = []
        self.halted: list[tuple[int, frozenset[str]]] = []

    def ask(self, dispatch_id: int, invoke: Invoke) -> None:
        self.asked.append((dispatch_id, invoke))

    def halt(self, dispatch_id: int, handlers: frozenset[str]) -> None:
        self.halted.append((dispatch_id, handlers))


class Desk:
    """One hub and what surrounds it; `agents` says which agent stands above a peer's pid."""

    def __init__(
        self,
        profile: Profile = "guard",
        *,
        adapters: Mapping[str, Adapter] = ADAPTERS,
        handlers: Iterable[Handler] = (),
        **approval: Any,
    ) -> None:
        self.clock = FakeClock(START)
        self.paper = Paper()
        self.agents: dict[int, Proc] = {}
        self.console = Console()
        self.moments: list[Callable[[], None]] | None = None
        """What is called back in a moment; None calls back at once."""
        self.runs = Runs()
        self._ids = 0
        self._conns = 0
        config = Config(profile=profile, approval=Approval(**approval))
        self.hub = Hub(
            engine=Engine(config, Rules(profile), self._id, handlers, traits=traits_in(adapters)),
            recorder=Recorder(
                Chain("core", EMPTY, lambda data: data), self.paper, State(), self.clock
            ),
            clock=self.clock,
            adapters=adapters,
            loop=Loop(later=self._later, soon=lambda call: call(), wake=lambda: None),
            agent_of=self.agents.get,
            handler_runner=self.runs,
            askers=AgentProcesses(alive=lambda _agent: True, lineage=lambda agent: (agent,)),
        )
        self.hub.recorder.watchers.add(self.console)

    def _later(self, call: Callable[[], None]) -> None:
        if self.moments is None:
            call()
        else:
            self.moments.append(call)

    def _id(self) -> str:
        self._ids += 1
        return f"{self._ids:04d}".ljust(26, "k")

    def conn(self, pid: int = 7) -> PendingReply:
        """One more connection."""
        self._conns += 1
        return PendingReply(self._conns, pid)

    def send(
        self,
        command: str,
        lane: Lane = Lane.GATE,
        *,
        event: str = "PreToolUse",
        call: str | None = "c1",
        pid: int = 7,
        deadline_s: float | None = 3660.0,
    ) -> PendingReply:
        """A shell call of Claude Code's comes in; its connection."""
        conn = self.conn(pid)
        head = FrameHead(agent="claude", lane=lane, length=0, native=event, deadline_s=deadline_s)
        self.hub.frame(head, payload(command, event, call), conn)
        return conn

    def decide(self, conn: PendingReply, decision: Any, **more: Any) -> None:
        """An operator decides what a connection waits for."""
        broker = self.hub.engine.broker
        request = broker.open[broker.of_conn(conn.number) or ""]
        facts = {"digest": request.data.digest, "by": "operator ann", "confirmed": True, **more}
        said = OperatorDecision(decision=decision, **facts)
        decided = broker.decide(request.id, said, self.clock.now())
        self.hub.execute(self.hub.engine.decided(decided))

    def kinds(self) -> list[str]:
        """The kinds of everything recorded, in order."""
        return [record.kind for record in self.console.records]

    def last(self, kind: str) -> dict[str, Any]:
        """The data of the newest record of a kind."""
        return next(r.data for r in reversed(self.console.records) if r.kind == kind)


def payload(command: str, event: str = "PreToolUse", call: str | None = "c1") -> bytes:
    """What Claude Code writes to a hook's standard input."""
    fields: dict[str, Any] = {
        "session_id": "one",
        "hook_event_name": event,
        "cwd": "/home/u/app",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return msgspec.json.encode(fields if call is None else {**fields, "tool_use_id": call})


def places(directory: Path) -> Paths:
    """A core whose files all lie in one directory."""
    return Paths(
        runtime_dir=directory,
        state_dir=directory,
        config=directory / "config.toml",
        data_dir=directory,
    )
