"""Plays a recording through an engine whose clock only the recording moves.

What no event brings about is taken from the recording: the answers of handlers and operators,
which clients left, what could not be written, and whether anybody was attached. Nothing here
can reach an agent: an answer goes nowhere.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import count

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.effects import Effect, Emit, RunHandler, SyncJournal
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.gate_coverage import AgentTraits
from watchgate.core.model.events import Event
from watchgate.core.model.records import BudgetData, CallData, Draft, Record, RequestData, TraceData
from watchgate.core.model.requests import Status
from watchgate.core.model.verdicts import Block, Defer, Failed, Report, TraceRow, Verdict
from watchgate.core.usage.budget import KIND as BUDGET
from watchgate.core.usage.budget import RULE as OVER_BUDGET
from watchgate.core.usage.budget import apply_budget
from watchgate.service.replaying.inferred_inputs import (
    ReplayGate,
    cut_short,
    recorded_assessment,
    recorded_verdict,
    restore_context,
)
from watchgate.service.replaying.recorded_answers import LATE_S, RecordedAnswers
from watchgate.service.replaying.recorded_run import NEVER, ArrivedEvent, RecordedRun

_SECOND_US = 1_000_000
_UNRECORDED = "what a handler said of it was not recorded"
_Key = tuple[str | None, str | None, str, str, int]


class PlayedEvent(msgspec.Struct, kw_only=True):
    """One event of a recording, with its trace, and what was recorded of it this time."""

    came: ArrivedEvent
    trace: TraceData | None
    why_not: str
    call: CallData | None = None
    request: str | None = None
    traced: TraceData | None = None


class RecordingPlayer:
    """Plays one core's records again; `played` are its events in the order in which they came.

    `asked` and `words` are what its requests asked this time, and how those that ended did.
    """

    def __init__(
        self,
        recording: RecordedRun,
        config: Config,
        gate: ReplayGate,
        handlers: Iterable[Handler],
        traits: Callable[[str], AgentTraits],
    ) -> None:
        """Builds an engine for the recording.

        Args:
            recording: The records of one core.
            config: The configuration to decide by.
            gate: The policy, which keeps what cannot be judged again.
            handlers: The handlers, none of which is run.
            traits: Gives an agent's traits by its name.
        """
        self.played: list[PlayedEvent] = []
        self.asked: dict[str, RequestData] = {}
        self.words: dict[str, str] = {}
        self._recording = recording
        self._config = config
        self._gate = gate
        ids = count(1)
        self._engine = Engine(config, gate, lambda: f"{next(ids):026d}", handlers, traits=traits)
        self._answers = RecordedAnswers(recording, self._engine, self._do)
        self._unnamed: defaultdict[_Key, list[PlayedEvent]] = defaultdict(list)
        self._untraced: defaultdict[_Key, list[PlayedEvent]] = defaultdict(list)
        self._runs: Counter[tuple[int, str]] = Counter()
        self._later: list[tuple[int, int, int, Callable[[], None]]] = []
        self._order = count()
        self._seq = 0
        self._now = self._at(recording.steps[0][0] if recording.steps else 0)

    def run(self) -> None:
        """Plays all of it."""
        for moment, step in self._recording.steps:
            self._catch_up(moment)
            self._move(moment)
            if isinstance(step, ArrivedEvent):
                self._come(step)
            elif step.record.kind == BUDGET:
                self._budget(step.record)
            else:
                self._answers.play(step.record, self._now)
            self._let_go()
        while self._later:
            self._catch_up(self._later[0][0] + 1)
        self._answers.commit(NEVER)

    def _come(self, came: ArrivedEvent) -> None:
        event = msgspec.structs.replace(came.event, at=self._at(came.record.at))
        played = PlayedEvent(came=came, trace=self._recording.trace(event), why_not=came.why_not)
        self.played.append(played)
        if came.call is not None:
            self._unnamed[_key(event)].append(played)
            if came.call.rule == OVER_BUDGET:
                self._gate.keep_over_budget(event, came.call.reason)
            if came.why_not:
                asked = self._recording.asked.get(came.record.request or "")
                self._gate.keep(event, recorded_assessment(came.call, asked))
        self._untraced[_key(event)].append(played)
        if not came.dispatched:
            self._seq = came.record.seq
        self._answers.let_pass(self._recording.passed[came.record.seq], self._now)
        self._ready(played, event, self._seq)
        conn = len(self.played) if event.lane.waits else 0
        self._do(self._engine.receive(event, conn, self._now))

    def _budget(self, record: Record) -> None:
        key = (record.agent or "", record.session or "")
        apply_budget(self._gate.budgets, decoding.convert(record.data, BudgetData), key)

    def _ready(self, played: PlayedEvent, event: Event, upto: int) -> None:
        """Restores the state around the engine in which this was decided."""
        call = played.came.call
        self._answers.commit(upto)
        if call is not None:
            name = played.came.record.request or ""
            restore_context(
                self._engine,
                event,
                call,
                self._recording.asked.get(name),
                self._recording.ended.get(name),
                self._gate.assess(event),
                self._now,
            )

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Emit(draft=draft):
                    self._note(draft)
                case SyncJournal(request=request):
                    self._answers.decided(request)
                case RunHandler(dispatch_id=dispatch_id, invoke=invoke):
                    self._ask(dispatch_id, invoke.handler.id, invoke.event)
                case _:
                    pass

    def _note(self, draft: Draft) -> None:
        data, key = draft.data, (draft.agent, draft.session)
        if isinstance(data, CallData):
            events = self._unnamed[(*key, draft.kind, data.native, draft.at)]
            if events:
                self._name(events.pop(0), data, draft.request)
        elif isinstance(data, TraceData):
            events = self._untraced[(*key, data.kind, data.native, draft.at)]
            if events:
                events.pop(0).traced = data
        elif draft.request is not None and draft.kind == "approval.requested":
            self.asked[draft.request] = data
        elif draft.request is not None and draft.kind == "approval.decided":
            self.words.setdefault(draft.request, data.word)

    def _name(self, played: PlayedEvent, data: CallData, request: str | None) -> None:
        played.call, played.request = data, request
        recorded = played.came.record.request
        if recorded and request and data.gate in ("held", "joined"):
            self._answers.know(recorded, request)

    def _ask(self, dispatch_id: int, handler: str, event: Event) -> None:
        """Plans a handler's recorded answer for the time at which it came."""
        waiting = self._untraced[_key(event)]
        played = waiting[0] if waiting else None
        trace = None if played is None else played.trace
        row = None if trace is None else _row(trace, handler)
        self._runs[dispatch_id, handler] += 1
        if played is None or trace is None or row is None:
            self._stand_in(dispatch_id, handler, played)
        elif self._runs[dispatch_id, handler] < row.times:
            # What it said first, of a call that was rewritten since, is not kept.
            self._report(self._now.wall_us, dispatch_id, handler, Defer())
        elif cut_short(row):
            rank = 1 if event.lane.waits else 2
            self._plan(_ended_us(row, played), rank, lambda: self._cut(dispatch_id))
        else:
            verdict = recorded_verdict(row, trace, self._rewritten(played))
            if verdict is None:
                self._stand_in(dispatch_id, handler, played, row)
            else:
                self._report(_ended_us(row, played), dispatch_id, handler, verdict)

    def _rewritten(self, played: PlayedEvent) -> dict[str, object] | None:
        asked = self._recording.asked.get(played.came.record.request or "")
        call = played.came.call
        # A call that was handed back tells of a request which another lane made.
        if asked is None or call is None or call.gate not in ("held", "joined"):
            return None
        return asked.tool.input if asked.before is not None else None

    def _stand_in(
        self,
        dispatch_id: int,
        handler: str,
        played: PlayedEvent | None,
        row: TraceRow | None = None,
    ) -> None:
        """Gives the answer by which the call ends as it did, where none was recorded."""
        call = None if played is None else played.came.call
        if played is not None:
            played.why_not = played.why_not or _UNRECORDED
        verdict: Verdict = Defer()
        if call is not None and call.word == "denied-by-rule":
            verdict = Block(call.reason)
        elif call is not None and call.word == "denied-failure":
            verdict = Failed("crash", call.reason)
        if played is not None and row is not None:
            at_us = _ended_us(row, played)
        else:
            last_us = self._recording.steps[-1][0]
            at_us = last_us if played is None else min(played.came.until, last_us)
        self._report(at_us, dispatch_id, handler, verdict)

    def _report(self, at_us: int, dispatch_id: int, handler: str, verdict: Verdict) -> None:
        def speak() -> None:
            for conn in self._engine.waits_for(dispatch_id):
                waiting = self.played[conn - 1]
                if waiting.call is None:  # an observer may speak long after it was decided
                    self._ready(waiting, waiting.came.event, waiting.came.record.seq)
            report = Report(verdict=verdict)
            self._do(self._engine.on_report(dispatch_id, handler, report, self._now))

        self._plan(at_us, 0, speak)

    def _cut(self, dispatch_id: int) -> None:
        """Ends a dispatch that nobody waited for any more, or that the core's end closed."""
        engine = self._engine
        waiting = engine.waits_for(dispatch_id)
        if engine.awaited(dispatch_id) and not waiting:
            # Of what is only observed, nothing else ends a dispatch.
            self._do(engine.close_all("denied-core-stopped", "", self._now))
        for conn in waiting:
            call = self.played[conn - 1].came.call
            why = None if call is None else call.rule if call.gate == "handback" else call.word
            if not engine.awaited(dispatch_id):
                return
            if call is None or why in (None, "withdrawn", "answered-elsewhere"):
                self._do(engine.hung_up(conn, self._now))
            elif why == "denied-failure":
                self._do(engine.failed(conn, call.reason, self._now))
            else:
                self._do(engine.close_all(why, call.reason, self._now))  # type: ignore[arg-type]

    def _let_go(self) -> None:
        """Hangs up clients that had their answer by now, whatever is asked this time."""
        for request in list(self._engine.broker.open.values()):
            if request.status is not Status.PENDING:
                continue
            for waiter in list(request.waiters):
                came = self.played[waiter.conn - 1].came
                gate = None if came.call is None else came.call.gate
                over = came.record.request in self._answers.over
                if over or gate not in ("held", "joined"):
                    self.words.setdefault(request.id, "")
                    self._do(self._engine.hung_up(waiter.conn, self._now))

    def _plan(self, at_us: int, rank: int, act: Callable[[], None]) -> None:
        """Schedules an action; one with a rank comes after everything that came in at its time."""
        at_us = max(at_us, self._now.wall_us)
        heapq.heappush(self._later, (at_us, rank, next(self._order), act))

    def _catch_up(self, moment: int) -> None:
        while self._later and self._later[0][:2] < (moment, 1):
            at_us, _, _, act = heapq.heappop(self._later)
            self._move(at_us)
            act()
            self._let_go()

    def _move(self, moment: int) -> None:
        self._now = self._at(max(moment, self._now.wall_us))
        if self._late():
            # What was written in time is not late, whenever the recording first tells of it.
            self._answers.commit(NEVER)
        if self._late():
            self._do(self._engine.expire(self._now))

    def _late(self) -> bool:
        due_s = self._engine.next_deadline()
        return due_s is not None and due_s + LATE_S <= self._now.mono_s

    def _at(self, wall_us: int) -> Instant:
        return Instant(wall_us, wall_us / _SECOND_US)


def _row(trace: TraceData, handler: str) -> TraceRow | None:
    return next((r for r in trace.rows if r.handler == handler and r.status == "ran"), None)


def _ended_us(row: TraceRow, played: PlayedEvent) -> int:
    after_ms = (row.start_ms or 0.0) + (row.duration_ms or 0.0)
    ended_us = played.came.record.at + round(after_ms * 1000)
    return min(ended_us, played.came.until) if row.role == "gate" else ended_us


def _key(event: Event) -> _Key:
    return event.agent, event.session, event.kind, event.native, event.at.wall_us
