"""The hub: wires the engine to connections, the journal and the consoles.

It runs on one event loop and carries out effects at once and in order: a record is sealed, queued,
folded into the state and offered to consoles; an answer goes to its connection; an allow waits for
the disk. Observed events may wait a moment; whatever else happens lets them go first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import anyio
import msgspec

from watchgate.agents.base import Adapter, DecodeError, HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Clock, Instant
from watchgate.core.gate import record_builders
from watchgate.core.gate.effects import Effect, Emit, RunHandler, StopHandlers, SyncJournal
from watchgate.core.gate.engine import Engine
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import CoreData, Draft, TamperedData
from watchgate.core.model.verdicts import Reply, Report, SayDeny
from watchgate.core.secrets.secret_finder import SecretsByText, remembering
from watchgate.service.admission.large_texts import Prepared, judge_all, lines_prepared
from watchgate.service.hub.hook_frames import (
    HookFrame,
    decode_frame,
    deny_on_failure,
    failure_text,
    prepared,
    unread_frame,
)
from watchgate.service.hub.interfaces import HandlerPort, Loop, PendingReply, ReplyFactory
from watchgate.service.hub.observed_events import ObservedEvents
from watchgate.service.identity.agent_processes import AgentProcesses, Session
from watchgate.service.identity.ancestry import chain_of
from watchgate.service.journal.recorder import Recorder
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.system.process_table import Proc
from watchgate.service.wire import framing
from watchgate.service.wire.framing import FrameHead
from watchgate.service.wire.ingest_lines import BadRequest, Line, line_answer

WRITTEN_S = 1.0
TURNED_AWAY_NOTICE_EACH_S = 10.0
ASKERS_LOOKED_UP_FROM = 50  # open requests; then the agent above each new one's is looked up


class Hub:
    """One core's running state.

    `on_asked` takes events that wait; `once_saved` calls back when their agent is on disk.

    Args:
        engine: Decides about events.
        recorder: Takes the records.
        clock: The clock.
        adapters: The adapters by the agent's name.
        loop: The event loop.
        agent_of: Returns the agent above a peer's pid.
        handler_runner: Runs handlers.
        askers: The agent processes that ask.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        recorder: Recorder,
        clock: Clock,
        adapters: Mapping[str, Adapter],
        loop: Loop,
        agent_of: Callable[[int], Proc | None],
        handler_runner: HandlerPort,
        askers: AgentProcesses,
    ) -> None:
        self.engine = engine
        self.recorder = recorder
        self.askers = askers
        self._clock = clock
        self._adapters = adapters
        self._on_loop = loop.soon
        self._wake = loop.wake
        self._agent_of = agent_of
        self._handlers = handler_runner
        self._agents: dict[int, tuple[Proc, Session, tuple[Proc, ...]]] = {}
        self._waiting: dict[int, PendingReply] = {}
        self._line_ids: dict[int, str | int | None] = {}
        self._unreceived: dict[int, bool] = {}
        self._commits = 0
        self._turned_away = 0
        self._tell_next_s = float("-inf")
        self._whole = engine.config.journal.content == "full"
        self.on_asked: Callable[[Event, Proc], None] = lambda _event, _agent: None
        self.once_saved: Callable[[Proc, Callable[[], None]], None] = lambda _agent, then: then()
        self.observed = ObservedEvents(
            engine=engine,
            recorder=recorder,
            clock=clock,
            adapters=adapters,
            askers=askers,
            ask=self._ask,
            execute=self.execute,
            later=loop.later,
        )

    def frame(self, head: FrameHead, payload: bytes, conn: PendingReply) -> None:
        """Decodes a whole hook frame and lets the engine decide."""
        self.take(self.received(head, payload, conn.pid), conn)

    def received(self, head: FrameHead, payload: bytes, pid: int) -> HookFrame:
        """Returns a frame that came in just now and may be taken later."""
        return HookFrame(head, payload, pid, self._clock.now())

    def prepared(self, frame: HookFrame) -> HookFrame:
        """Returns the frame with all slow work done; may run in any thread."""
        return prepared(frame, self._adapters, whole=self._whole)

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        """Returns a call that does the same for whole lines; for any thread."""
        return partial(lines_prepared, chunk, self._clock.now(), source.without_calls())

    def ahead(self, prepared: Prepared) -> Callable[[], None]:
        """Returns a call that judges prepared calls before they are taken; for any thread."""
        judged = [(event, self.engine.ahead(event)) for event in prepared.events]
        return judge_all(judged, prepared.secrets, self.engine.config.journal.content)

    def take(self, frame: HookFrame, conn: PendingReply) -> None:
        """Lets the engine decide about a frame."""
        head = frame.head
        if head.lane is Lane.OBSERVE:
            # It may tell that a call that waits was answered elsewhere; then it counts whose word.
            if self.engine.broker.open and (teller := self._agent_of(conn.pid)) is not None:
                frame = msgspec.structs.replace(frame, teller_pid=teller.pid)
            self.observed.frame(frame)
            return
        self.catch_up()
        try:
            event = decode_frame(frame, self._adapters, whole=self._whole)
        except DecodeError as fault:
            self.bad_frame(head, str(fault), conn, frame.payload)
            return
        if framing.is_probe(event):
            self.observed.probed(event)
            conn.say(self._adapters[event.agent].answer(event, SayDeny(framing.PROBE_DENIAL)), None)
            return
        conn.proxy = head.proxy
        if frame.prepared is None:
            self.event(event, conn, frame.at)
            return
        now = self._clock.now()
        if event.deadline_s is not None:
            # The client counts from when it sent the frame.
            left_s = max(0.0, event.deadline_s - (now.mono_s - frame.at.mono_s))
            event = msgspec.structs.replace(event, deadline_s=left_s)
        conn.secrets = frame.prepared.secrets
        self.event(event, conn, now)

    def catch_up(self) -> None:
        """Lets observed events go first: whatever else happens may depend on them."""
        self.observed.catch_up()

    def event(self, event: Event, conn: PendingReply, now: Instant) -> None:
        """Lets the engine decide about an event whose connection waits for an answer."""
        self._waiting[conn.number] = conn
        conn.head = FrameHead(agent=event.agent, lane=event.lane, length=0, native=event.native)
        chain = chain_of(conn.pid) if conn.proxy else ()
        agent = next(iter(chain), None) if conn.proxy else self._agent_of(conn.pid)
        if len(self.engine.broker.open) >= ASKERS_LOOKED_UP_FROM:
            above = self.askers.asking_agent(conn.pid)
            event = msgspec.structs.replace(event, asker_pid=above.pid if above else None)
        if agent is not None:
            session = event.agent, event.session
            self._agents[conn.number] = agent, session, chain
            self.askers.note_agent(agent, session)
            event = msgspec.structs.replace(event, agent_pid=agent.pid)
            self.on_asked(event, agent)
            self._unreceived[conn.number] = False
            self.once_saved(agent, lambda: self._receive_known(event, conn, now))
        else:
            self._receive(event, conn, now)

    def on_report(self, dispatch_id: int, handler: str, report: Report) -> None:
        """Takes the report of a handler that the engine asked."""
        self.catch_up()
        waiting = self.engine.waits_for(dispatch_id)
        with contain_errors(lambda fault: self._fail_report(fault, handler, waiting)):
            with remembering(self._secrets_of(waiting)):
                self.execute(self.engine.on_report(dispatch_id, handler, report, self._clock.now()))
            for number in waiting:
                self._note_asker(number)

    def bad_frame(
        self, head: FrameHead | None, why: str, conn: PendingReply, payload: bytes = b""
    ) -> None:
        """Records an unreadable frame as a raw event; a gate is answered closed."""
        self.catch_up()
        now = self._clock.now()
        raw = unread_frame(head, payload, conn.pid, why, now, self._adapters)
        self.execute(self.engine.receive(raw, conn.number, now))
        self._close(head, why, conn)

    def failed(self, fault: str, conn: PendingReply, head: FrameHead | None = None) -> None:
        """Answers a connection closed over which this program failed, and records that."""
        self.catch_up()
        self._close(head, f"an internal error ({fault})", conn)
        self._waiting.pop(conn.number, None)
        self.recorder.internal_error(fault, f"pid {conn.pid}")
        self.execute(self.engine.failed(conn.number, fault, self._clock.now()))

    def turned_away(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        """Answers a connection closed for which there was no room, and records that at times."""
        self._close(head, why, conn)
        self._turned_away += 1
        now_s = self._clock.now().mono_s
        if now_s >= self._tell_next_s and self.recorder.has_room():
            self._tell_next_s = now_s + TURNED_AWAY_NOTICE_EACH_S
            times = f"; {self._turned_away} connections were turned away since it was told last"
            self.recorder.notice("ingest.crowded", f"{why}, pid {conn.pid}{times}")
            self._turned_away = 0

    def record_extension_line(self, extension: str, line: str) -> None:
        """Records a line that an extension wrote to its standard error."""
        if self.recorder.has_room():
            self.recorder.notice("extension.stderr", f"{extension}: {line}")

    def lines(
        self,
        chunk: bytes,
        source: Source,
        asker: ReplyFactory,
        secrets: SecretsByText | None = None,
    ) -> Iterator[None]:
        """Takes whole JSON lines of a source, in order; others may have a turn at each step."""
        return self.observed.lines(chunk, source, asker, secrets)

    def source_gone(self, source: Source) -> None:
        """Ends a source whose last connection ended."""
        self.observed.source_gone(source)

    def oversized_line(self, size_bytes: int, pid: int) -> None:
        """Records that a line over the limit was dropped."""
        self.catch_up()
        self.recorder.notice("ingest.oversize", f"{size_bytes} bytes dropped, pid {pid}")

    def delivered(self, conn: PendingReply, *, ok: bool) -> None:
        """Notes that the answer was written to a client's socket, or its end was closed."""
        self.catch_up()
        self._forget(conn)
        if conn.request is not None:
            self.execute(self.engine.sent(conn.request, ok, self._clock.now()))

    def hung_up(self, conn: PendingReply) -> None:
        """Notes that a waiting client went away."""
        self.catch_up()
        if conn.number in self._unreceived:
            self._unreceived[conn.number] = True
            return
        self._forget(conn)
        self.execute(self.engine.hung_up(conn.number, self._clock.now()))

    def expire_due(self) -> None:
        """Ends overdue requests, if there are any."""
        self.catch_up()
        now = self._clock.now()
        due = self.engine.next_deadline()
        if due is not None and due <= now.mono_s:
            self.execute(self.engine.expire(now))

    def journal_state(self, lost: str) -> None:
        """Takes the reason why the journal is lost, empty if it is sound; gates follow at once."""
        news = []
        if changed := lost != self.engine.status.journal_lost:
            self.catch_up()
            self.engine.status.journal_lost = lost
            news.append("the journal cannot be written" if lost else "the journal is written again")
        roomy = not lost and self.recorder.roomy
        if roomy and (unrecorded := self.recorder.take_unrecorded()):
            news.append(f"{unrecorded} observed events were not recorded meanwhile")
        if news:
            data = CoreData(what="; ".join(news), detail=lost or "ok")
            self.recorder.about_core("policy.journal", data)
        if changed and self.recorder.journal.foreign:
            tampering = TamperedData(
                part="journal",
                path=str(self.recorder.journal.path),
                what="another program has written to the journal: every gate answers closed",
                mend="watchgate audit verify",
            )
            now_us = self._clock.now().wall_us
            self.recorder.record(Draft(kind="policy.tampered", at=now_us, data=tampering))
        if changed and lost:
            self.execute(self.engine.close_all("denied-no-journal", lost, self._clock.now()))

    async def written(self) -> bool:
        """Waits until all records so far are on disk, or cannot be; returns whether they are."""
        self.catch_up()
        done = anyio.Event()
        is_on_disk = False

        def settled(ok: bool) -> None:
            nonlocal is_on_disk
            is_on_disk = ok
            done.set()

        self.recorder.journal.commit(lambda ok: self._on_loop(lambda: settled(ok)))
        with anyio.move_on_after(WRITTEN_S):
            await done.wait()
        return is_on_disk

    @property
    def deciding(self) -> bool:
        """Returns whether a decision waits for the disk, and somebody for the decision."""
        return self._commits > 0

    @property
    def waits(self) -> bool:
        """Returns whether anybody waits for an answer."""
        return bool(self._waiting)

    @property
    def unanswered(self) -> bool:
        """Returns whether an answer still has to reach its client."""
        return any(conn.answer is not None for conn in self._waiting.values())

    def cannot_accept(self, why: str) -> None:
        """Records that no connection can be accepted for now; clients wait, then answer closed."""
        self.recorder.about_core(
            "policy.fault", CoreData(what="takes in no connection", detail=why)
        )

    def execute(self, effects: list[Effect]) -> None:
        """Carries out the engine's effects, in their order."""
        for effect in effects:
            if isinstance(effect, Emit):
                if effect.draft.kind == "approval.decided":
                    self.askers.settled(effect.draft.request)
                self.recorder.record(effect.draft)
            elif isinstance(effect, SyncJournal):
                self._commit(effect.request)
            elif isinstance(effect, RunHandler):
                self._handlers.ask(effect.dispatch_id, effect.invoke)
            elif isinstance(effect, StopHandlers):
                self._handlers.halt(effect.dispatch_id, effect.handlers)
            else:
                self._send(effect.conn, effect.event, effect.reply, effect.request)
        self._wake()

    def _ask(self, event: Event, line: Line | BadRequest, conn: PendingReply, now: Instant) -> None:
        self._line_ids[conn.number] = line.id
        with contain_errors(lambda fault: self.failed(fault, conn)):
            if isinstance(line, BadRequest):
                self._close(None, line.why, conn)
                self.execute(self.engine.receive(event, conn.number, now))
            else:
                conn.proxy = line.proxy
                self.event(event, conn, now)

    def _receive(self, event: Event, conn: PendingReply, now: Instant) -> None:
        with remembering(conn.secrets):
            self.execute(self.engine.receive(event, conn.number, now))
        self._note_asker(conn.number)

    def _secrets_of(self, numbers: Iterable[int]) -> SecretsByText:
        secrets: SecretsByText = {}
        for conn in map(self._waiting.get, numbers):
            secrets |= conn.secrets if conn is not None else {}
        return secrets

    def _receive_known(self, event: Event, conn: PendingReply, now: Instant) -> None:
        """Lets the engine decide, now that a core that starts again would know whose call it is."""
        hung_up = self._unreceived.pop(conn.number)
        if conn.number not in self._waiting:
            return  # answered closed already
        self.catch_up()
        with contain_errors(lambda fault: self.failed(fault, conn, conn.head)):
            self._receive(event, conn, now)
        # On record is that it asked, and that nobody waits.
        if hung_up and conn.answer is None:
            self.hung_up(conn)
        elif hung_up:
            self.delivered(conn, ok=False)

    def _commit(self, request: str) -> None:
        def settle(ok: bool) -> None:
            self._commits -= 1
            self.catch_up()
            if not ok and self.recorder.journal.lost:
                self.journal_state(self.recorder.journal.lost)
            self.execute(self.engine.committed(request, ok, self._clock.now()))

        self._commits += 1
        self.recorder.journal.commit(lambda ok: self._on_loop(lambda: settle(ok)))

    def _send(self, number: int, event: Event, reply: Reply, request: str | None) -> None:
        conn = self._waiting.get(number)
        if conn is None:
            return
        with contain_errors(lambda fault: self._fail_send(fault, conn, event, request)):
            if number in self._line_ids:
                answer = line_answer(self._line_ids[number], reply)
            else:
                answer = self._adapters[event.agent].answer(event, reply)
            conn.say(answer, request)

    def _fail_send(self, fault: str, conn: PendingReply, event: Event, request: str | None) -> None:
        """Answers closed where a reply could not be put into the agent's format."""
        head = FrameHead(agent=event.agent, lane=event.lane, length=0, native=event.native)
        self._close(head, f"an internal error ({fault})", conn)
        self.recorder.internal_error(fault, f"pid {conn.pid}")
        settled = self.engine.broker.get(request or "")
        if settled is not None:
            what, now = "the answer could not be made", self._clock.now()
            self.execute([record_builders.undelivered(settled, "denied-failure", what, now)])

    def _close(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        answer: HookAnswer | None
        if conn.number in self._line_ids:
            answer = line_answer(self._line_ids[conn.number], SayDeny(failure_text(why)))
        else:
            strict = self.engine.profile == "strict"
            answer = deny_on_failure(head, why, adapters=self._adapters, strict=strict)
        if answer is not None:
            conn.say(answer, None)

    def _fail_report(self, fault: str, handler: str, waiting: list[int]) -> None:
        """Answers the waiting connections closed: this program failed over a handler's report."""
        if not waiting:
            self.recorder.internal_error(fault, f"handler {handler}")
        for conn in [self._waiting[n] for n in waiting if n in self._waiting]:
            self.failed(fault, conn, conn.head)

    def _note_asker(self, number: int) -> None:
        """Notes which agent waits for an operator: that agent must not be the operator."""
        agent = self._agents.get(number)
        request = self.engine.broker.of_conn(number)
        # A grant may have decided it already; then no operator is asked.
        if agent is not None and request is not None and request in self.recorder.state.pending:
            self.askers.waits(request, *agent)

    def _forget(self, conn: PendingReply) -> None:
        self._agents.pop(conn.number, None)
        self._waiting.pop(conn.number, None)
        self._line_ids.pop(conn.number, None)
