"""What each verb of the control protocol does; a refusal changes nothing."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from watchgate import __version__
from watchgate.core.clock import Clock
from watchgate.core.config import AGENT_MAX_S
from watchgate.core.decisions import IN_YOURS, NOT_YOURS, Decision, Refused, settled
from watchgate.core.filters import Filter, FilterError, parse
from watchgate.core.records import CoreData, Record
from watchgate.core.requests import Status
from watchgate.link.protocol import Hello, Refusal, Request, Result
from watchgate.service import history, off_switch
from watchgate.service.hub import Hub
from watchgate.service.journal_schema import JournalError
from watchgate.service.outbox import Outbox
from watchgate.service.process_table import Proc
from watchgate.service.shown import listed, shown, snapshot
from watchgate.service.thinning import Thinning

KEY_VERBS = frozenset({"hello", "decide", "extend"})


class Caller:
    """One control client: who it is, and where its lines go.

    `console` is set once it attached as one, behind which somebody decides.
    """

    def __init__(self, *, number: int, pid: int, chain: tuple[Proc, ...], outbox: Outbox) -> None:
        self.number = number
        self.pid = pid
        self.chain = chain
        self.outbox = outbox
        self.console = False

    def name(self, signed: str | None) -> str:
        """How its decisions are signed."""
        place = f"console {self.number}" if self.console else f"pid {self.pid}"
        return f"operator {signed or getpass.getuser()} ({place})"


class Verbs:
    """The verbs over one hub."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        *,
        core: str,
        journal: Path,
        off: Path,
        stop: Callable[[str], None],
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._core = core
        self._journal = journal
        self._off = off
        self._stop = stop
        self._consoles: set[int] = set()
        self._boot = clock.now().wall_us
        self._verbs: dict[str, Callable[[Request, Caller], Awaitable[dict[str, Any]]]] = {
            "hello": self._hello,
            "attach": self._attach,
            "list": self._list,
            "show": self._show,
            "decide": self._decide,
            "extend": self._extend,
            "search": self._search,
            "history": self._history,
            "off": self._switch_off,
            "on": self._switch_on,
            "stop": self._stop_core,
        }

    def hello(self) -> Hello:
        """The core's first line."""
        return Hello(
            watchgate=__version__,
            core=self._core,
            boot=self._boot,
            seq=self._hub.recorder.state.seq,
            profile=self._hub.engine.profile,
        )

    async def do(self, request: Request, caller: Caller) -> Result | Refusal:
        """Carry a request out, or say why not."""
        self._hub.catch_up()
        if request.verb in KEY_VERBS and caller.number in self._consoles:
            self._hub.engine.standing.key_seen_s = self._clock.now().mono_s
        try:
            return Result(id=request.id, ok=await self._verbs[request.verb](request, caller))
        except Refused as refused:
            end = refused.settlement
            return Refusal(
                id=request.id,
                refused=refused.code,
                message=str(refused),
                by=end.by if end else None,
                at=end.at.wall_us if end else None,
                word=end.word if end else None,
            )
        except (JournalError, OSError) as fault:
            return Refusal(id=request.id, refused="failed", message=str(fault))

    def failed(self, fault: str, caller: Caller) -> None:
        """This program failed over a request; the record says so."""
        self._hub.recorder.internal_error(fault, f"control client pid {caller.pid}")

    def gone(self, caller: Caller) -> None:
        """A client went away."""
        self._hub.catch_up()
        self._hub.recorder.watchers.discard(caller.outbox)
        if caller.console:
            self._consoles.discard(caller.number)
            data = CoreData(what="console", name=caller.name(None))
            self._hub.recorder.about_core("console.detached", data)
            self._count_consoles()

    def _count_consoles(self) -> None:
        count = len(self._consoles)
        self._hub.execute(self._hub.engine.console_count(count, self._clock.now()))

    async def _hello(self, _request: Request, _caller: Caller) -> dict[str, Any]:
        return {"hello": self.hello()}

    async def _attach(self, request: Request, caller: Caller) -> dict[str, Any]:
        counts = not request.observer and not caller.console
        if counts:
            caller.console = True
            # Nobody is known to sit behind what an agent may have started: the gate is unattended.
            if self._hub.askers.may_switch(caller.chain):
                self._consoles.add(caller.number)
            caller.outbox.thinning = Thinning()
            data = CoreData(what="console", name=caller.name(request.as_))
            self._hub.recorder.about_core("console.attached", data)
        state, engine = self._hub.recorder.state, self._hub.engine
        taken = snapshot(state, engine, core=self._core, now=self._clock.now())
        self._hub.recorder.watchers.add(caller.outbox)
        if request.from_seq is not None and request.from_seq < taken.seq:
            caller.outbox.skip(request.from_seq + 1, taken.seq)
        if counts:
            self._count_consoles()
        return {"snapshot": taken}

    async def _list(self, request: Request, _caller: Caller) -> dict[str, Any]:
        state = self._hub.recorder.state
        if request.what == "sessions":
            return {"sessions": list(state.sessions.values())}
        return {"requests": [listed(view) for view in state.by_deadline()]}

    async def _show(self, request: Request, _caller: Caller) -> dict[str, Any]:
        return {"request": shown(self._hub.engine.broker.find(_named(request)))}

    async def _decide(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.decision is None:
            raise Refused("bad_request", "decide needs a decision: allow, deny, handback or answer")
        if request.input is not None:
            raise Refused("not_offered", "an edited input is not offered here")
        broker, now = self._hub.engine.broker, self._clock.now()
        found = broker.find(_named(request))
        said = Decision(
            decision=request.decision,
            by=caller.name(request.as_),
            digest=request.digest,
            reason=request.reason or "",
            scope=request.scope,
            stop=request.stop,
            may_allow=self._hub.askers.may_decide(caller.chain, found.id),
            shown_ms=request.shown_ms,
            confirmed=request.confirmed,
            answers=request.answers,
        )
        decided = broker.decide(found.id, said, now)
        self._hub.execute(self._hub.engine.decided(decided))
        if decided.status is Status.COMMITTING:
            # Nobody may hear of an allow that the disk refused and the agent was never told.
            await self._hub.written()
            if decided.status is Status.COMMITTING:
                raise JournalError(
                    self._journal,
                    "has not taken the allow yet: the agent is told once it has, and denied at the "
                    f"deadline otherwise; see watchgate show {decided.id[:4]}",
                )
            if decided.status is not Status.ALLOWED:
                raise settled(decided)
        return {"request": decided.id, "word": decided.ending.word}

    async def _extend(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not 0 < (request.seconds or 0) <= AGENT_MAX_S:
            raise Refused("bad_request", f"extend needs seconds, from 1 to {AGENT_MAX_S}")
        broker, now = self._hub.engine.broker, self._clock.now()
        found = broker.find(_named(request))
        if not self._hub.askers.may_decide(caller.chain, found.id):
            raise Refused("self_approval", f"{NOT_YOURS}, so it may only deny: do it {IN_YOURS}")
        longer = broker.extend(found.id, request.seconds or 0, now)
        by = caller.name(request.as_)
        self._hub.execute(self._hub.engine.extended(longer, by, now))
        return {"request": longer.id, "deadline_at": longer.data.deadline_at}

    async def _search(self, request: Request, _caller: Caller) -> dict[str, Any]:
        wanted = _filter(request.filter or "")
        await self._hub.written()
        found = await anyio.to_thread.run_sync(
            history.search, self._journal, wanted, max(1, request.limit)
        )
        return {"records": found}

    async def _history(self, request: Request, _caller: Caller) -> dict[str, Any]:
        first = request.from_seq or 1
        last = request.to_seq or self._hub.recorder.state.seq
        last = min(last, first + history.PAGE - 1)
        await self._hub.written()
        found: list[Record] = await anyio.to_thread.run_sync(
            history.between, self._journal, first, last
        )
        return {"records": found}

    async def _switch_off(self, request: Request, caller: Caller) -> dict[str, Any]:
        self._operator_only(caller)
        seconds = request.seconds or 0
        if not 0 <= seconds <= off_switch.LONGEST_S:
            longest = off_switch.LONGEST_S
            raise Refused("bad_request", f"off takes seconds up to {longest}, 0 for until reboot")
        until_us = self._clock.now().plus(seconds).wall_us if seconds else 0
        off_switch.write(self._off, until_us // 1_000_000 if seconds else None)
        data = CoreData(
            what="the gate is switched off", until=until_us, name=caller.name(request.as_)
        )
        self._hub.recorder.about_core("policy.off", data)
        return {"until": until_us}

    async def _switch_on(self, request: Request, caller: Caller) -> dict[str, Any]:
        off_switch.remove(self._off)
        data = CoreData(what="the gate is switched on", name=caller.name(request.as_))
        self._hub.recorder.about_core("policy.on", data)
        return {}

    async def _stop_core(self, request: Request, caller: Caller) -> dict[str, Any]:
        # A core that an agent ended could be followed by one of the agent's own, that gates less.
        self._operator_only(caller)
        self._stop(caller.name(request.as_))
        return {}

    def _operator_only(self, caller: Caller) -> None:
        if not self._hub.askers.may_switch(caller.chain):
            raise Refused("self_approval", f"{NOT_YOURS}: do it {IN_YOURS}")


def _named(request: Request) -> str:
    if not request.request:
        raise Refused("bad_request", f"{request.verb} needs the id of a request")
    return request.request


def _filter(text: str) -> Filter:
    try:
        return parse(text)
    except FilterError as fault:
        raise Refused("bad_request", str(fault)) from None
