"""Verbs that only read: attach, lists, one request in full, and history.

Open requests as the control socket shows them, in a list and in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.filters.filter_parser import Filter, FilterError, parse
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.agent_state import AgentState
from watchgate.core.model.records import CoreData
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Hello, Request
from watchgate.link.snapshots import snapshot
from watchgate.service.control.caller import Caller, Do, RecordSampler, named_request, user
from watchgate.service.history import call_pages, record_pages
from watchgate.service.history.call_pages import CoreView
from watchgate.service.hub.hub import Hub

LISTED_CHARS = 8_192
"""Characters of a call that a list holds; `show` has all of it."""


def request_row(view: PendingView) -> dict[str, Any]:
    """Returns one line of `ls --json`."""
    data = view.data
    return {
        "id": view.id,
        "agent": view.agent,
        "session": view.session,
        "label": view.label,
        "lane": data.lane,
        "asks": data.asks,
        "tool": data.tool.name,
        "summary": _beginning(data.summary, view.id),
        **({"asked": _beginning(data.asked, view.id)} if data.asked else {}),
        "risk": data.risk,
        "reason": data.reason,
        "digest": data.digest,
        "received_at": view.at,
        "deadline_s": data.timeout_s,
        "deadline_at": data.deadline_at,
    }


def _beginning(line: str, request: str) -> str:
    left_out = len(line) - LISTED_CHARS
    if left_out <= 0:
        return line
    return f"{line[:LISTED_CHARS]}… {left_out} more characters: watchgate show {request[:8]}"


def request_view(request: ApprovalRequest, view: PendingView | None = None) -> dict[str, Any]:
    """Returns one request in full, open or settled; with facts and escalations of its `view`."""
    subject = request.subject
    whole: dict[str, Any] = {
        "id": request.id,
        "agent": subject.agent,
        "session": subject.session,
        "turn": subject.turn,
        "call": request.call,
        "status": request.status.value,
        "received_at": request.opened.wall_us,
        **msgspec.to_builtins(request.data),
    }
    if view is not None and (view.facts or view.cut):
        whole |= {"facts": msgspec.to_builtins(view.facts), "cut": view.cut}
    if view is not None and view.escalated:
        whole["escalated"] = msgspec.to_builtins(view.escalated)
    if request.settlement is not None:
        end = request.settlement
        whole["ended"] = {
            "word": end.word,
            "by": end.by,
            "at": end.at.wall_us,
            "waited_s": round(end.waited_s, 3),
            "reason": end.reason,
            **({"answers": end.answers} if end.answers else {}),
        }
    return whole


Result = TypeVar("Result")
Args = TypeVarTuple("Args")

ALIVE = ("pending", "running")
ALIVE_AMONG = 2_000
"""So many of the newest calls are checked for whether they go on."""


class QueryVerbs:
    """The verbs that only read; `consoles` are the clients behind which somebody may decide.

    Args:
        hub: The hub.
        clock: The clock.
        core: The core's id.
        journal: The journal's database.
        hello: Makes the core's first line.
        agents: Reads the state of the agents on this machine, in a thread.
        titles: The names of agents in a sentence.
    """

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        *,
        core: str,
        journal: Path,
        hello: Callable[[], Hello],
        agents: Callable[[], Sequence[AgentState]],
        titles: Mapping[str, str],
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._core = core
        self._journal = journal
        self._hello_line = hello
        self._agents = agents
        self._titles = titles
        self._reading = anyio.CapacityLimiter(1)
        self._reading_for_others = anyio.CapacityLimiter(1)
        self._attached: dict[int, Caller] = {}
        self.consoles: set[int] = set()

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {
            "hello": self._hello,
            "attach": self._attach,
            "list": self._list,
            "show": self._show,
            "search": self._search,
            "history": self._history,
        }

    def left(self, caller: Caller) -> None:
        """Notes that a console went away."""
        self._attached.pop(caller.number, None)
        self.count_consoles()

    def count_consoles(self) -> None:
        """Counts the consoles behind which somebody may decide, by now."""
        # Nobody is known to sit behind what an agent may have started: the gate is unattended.
        self.consoles = {number for number, each in self._attached.items() if each.may_be_a_persons}
        count = len(self.consoles)
        self._hub.execute(self._hub.engine.console_count(count, self._clock.now()))

    async def _hello(self, _request: Request, _caller: Caller) -> dict[str, Any]:
        return {"hello": self._hello_line(), "gate": self._hub.recorder.state.gate}

    async def _attach(self, request: Request, caller: Caller) -> dict[str, Any]:
        counts = not request.observer and not caller.console
        if counts:
            caller.console = True
            self._attached[caller.number] = caller
            caller.outbox.sampler = RecordSampler()
            name, actor = caller.name(request.as_), caller.actor()
            data = CoreData(what="console", name=name, actor=actor)
            self._hub.recorder.about_core("console.attached", data)
        state = self._hub.recorder.state
        now_us = self._clock.now().wall_us
        taken = snapshot(state, core=self._core, now_us=now_us, titles=self._titles)
        self._hub.recorder.watchers.add(caller.outbox)
        if request.from_seq is not None and request.from_seq < taken.seq:
            caller.outbox.skip(request.from_seq + 1, taken.seq)
        if counts:
            self.count_consoles()
        return {"snapshot": taken}

    async def _list(self, request: Request, caller: Caller) -> dict[str, Any]:
        state = self._hub.recorder.state
        if request.what == "sessions":
            views = state.sessions.values()
            return {"sessions": [msgspec.structs.replace(each, state=each.shown) for each in views]}
        if request.what == "agents":
            return {"agents": await self._read(caller, self._agents)}
        return {"requests": [request_row(view) for view in state.by_deadline()]}

    async def _show(self, request: Request, _caller: Caller) -> dict[str, Any]:
        target = self._hub.engine.broker.find(named_request(request))
        return {"request": request_view(target, self._hub.recorder.state.pending.get(target.id))}

    async def _search(self, request: Request, caller: Caller) -> dict[str, Any]:
        wanted = _filter(request.filter or "", self._clock.now().wall_us)
        view = self._view() if request.what == "calls" else None
        await self._hub.written()
        if view is not None:
            return await self._read(caller, _calls, self._journal, wanted, request, view)
        bounds = request.from_seq, request.to_seq
        return await self._read(
            caller, record_pages.search, self._journal, wanted, request.limit, *bounds
        )

    async def _read(self, caller: Caller, read: Callable[[*Args], Result], *args: *Args) -> Result:
        """Reads files in a thread, one reader at a time: they take turns with the loop.

        Consoles wait for no one else, however many ask.
        """
        mine = caller.number in self.consoles
        room = self._reading if mine else self._reading_for_others
        return await anyio.to_thread.run_sync(read, *args, limiter=room)

    def _view(self) -> CoreView:
        """Returns the core's knowledge of sessions and calls, taken before another thread reads."""
        state = self._hub.recorder.state
        rows = state.rows.tail(ALIVE_AMONG)
        return CoreView(
            names={key: session.label for key, session in state.sessions.items()},
            alive=frozenset(
                (row.agent, row.session, row.call) for row in rows if row.stage in ALIVE
            ),
            me=user(),
        )

    async def _history(self, request: Request, caller: Caller) -> dict[str, Any]:
        first = request.from_seq or 1
        last = request.to_seq or self._hub.recorder.state.seq
        last = min(last, first + record_pages.PAGE - 1)
        await self._hub.written()
        return {
            "records": await self._read(caller, record_pages.between, self._journal, first, last)
        }


def _calls(journal: Path, wanted: Filter, request: Request, view: CoreView) -> dict[str, Any]:
    if request.from_seq is not None:
        return call_pages.changed(journal, wanted, request.from_seq, view)
    return call_pages.calls(journal, wanted, limit=request.limit, before=request.before, view=view)


def _filter(text: str, now_us: int) -> Filter:
    try:
        return parse(text, now_us=now_us)
    except FilterError as fault:
        raise Refused("bad_request", str(fault)) from None
