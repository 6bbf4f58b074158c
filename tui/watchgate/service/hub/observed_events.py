"""Events that nobody waits for: observed hook frames, and the lines of sources.

A frame waits a moment for others, and each stage is done for all of them. Their records are written
together; other effects, such as the end of a request, are carried out at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from watchgate.agents.base import Adapter, DecodeError
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Clock, Instant
from watchgate.core.gate.effects import Effect, Emit
from watchgate.core.gate.engine import Engine
from watchgate.core.model.events import Event
from watchgate.core.model.records import Draft
from watchgate.core.secrets.secret_finder import SecretsByText, remembering
from watchgate.service.hub.hook_frames import HookFrame, decode_frame, unread_frame
from watchgate.service.hub.interfaces import PendingReply, ReplyFactory
from watchgate.service.hub.loop_budget import SLICE_S, Batcher
from watchgate.service.identity.agent_processes import AgentProcesses
from watchgate.service.journal.recorder import Recorder
from watchgate.service.system.error_boundary import contain_each
from watchgate.service.wire import framing
from watchgate.service.wire.ingest_lines import BadRequest, Line, decode_chunk, session_ends

_FOLLOWED = frozenset(
    {"session.start", "session.end", "turn.end", "turn.error", "compact.pre", "compact.post"}
)
"""Events after which a transcript may be read, or that say where it is."""

Ask = Callable[[Event, Line | BadRequest, PendingReply, Instant], None]


class ObservedEvents:
    """The observed events of one core.

    `on_session_event` takes the events of sessions and turns.

    Args:
        engine: Takes the events.
        recorder: Takes the records.
        clock: The clock.
        adapters: The adapters by the agent's name.
        askers: The agent processes that ask.
        ask: Takes the lines whose sender waits for an answer.
        execute: Carries out an event's effects beside records.
        later: Calls back in a moment.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        recorder: Recorder,
        clock: Clock,
        adapters: Mapping[str, Adapter],
        askers: AgentProcesses,
        ask: Ask,
        execute: Callable[[list[Effect]], None],
        later: Callable[[Callable[[], None]], object],
    ) -> None:
        self._engine = engine
        self._whole = engine.config.journal.content == "full"
        self._recorder = recorder
        self._clock = clock
        self._adapters = adapters
        self._askers = askers
        self._ask = ask
        self._execute = execute
        self._gathered: Batcher[HookFrame] = Batcher(self._take, later)
        self.on_session_event: Callable[[Event], None] = _nobody

    def frame(self, frame: HookFrame) -> None:
        """Takes a whole hook frame, which may wait a moment for others."""
        self._gathered.add(frame, len(frame.payload))

    def catch_up(self) -> None:
        """Handles the waiting frames."""
        self._gathered.flush()

    def lines(
        self,
        chunk: bytes,
        source: Source,
        asker: ReplyFactory,
        secrets: SecretsByText | None = None,
    ) -> Iterator[None]:
        """Handles whole JSON lines of a source, in order; yields each time that they took a slice.

        `secrets` are those of texts among them that were looked through before.
        """
        self.catch_up()
        now = self._clock.now()
        observed: list[Draft] = []
        failed = self._failure(source.peer)
        known: SecretsByText = secrets or {}

        def take(decoded: tuple[Event, Line | BadRequest | None]) -> None:
            event, line = decoded
            if self._engine.broker.open:
                event = msgspec.structs.replace(event, teller_pid=source.pid or None)
            if isinstance(line, BadRequest) or (line is not None and event.lane.waits):
                self._recorder.record_all(observed, failed)
                conn = asker()
                conn.secrets = known
                self._ask(event, line, conn, now)
            else:
                self._observe(event, observed, failed)

        until_s = now.mono_s + SLICE_S
        for each in decode_chunk(chunk, now, source):
            with remembering(known):
                contain_each((each,), take, failed)
            if self._clock.now().mono_s >= until_s:
                with remembering(known):
                    self._recorder.record_all(observed, failed)
                yield
                until_s = self._clock.now().mono_s + SLICE_S
                self.catch_up()
        with remembering(known):
            self._recorder.record_all(observed, failed)

    def source_gone(self, source: Source) -> None:
        """Ends a source whose last connection ended: what its lines left open is over."""
        self.catch_up()
        observed: list[Draft] = []
        failed = self._failure(source.peer)
        now = self._clock.now()
        left = source.gone(now)
        contain_each(left, lambda event: self._observe(event, observed, failed), failed)
        observed += session_ends(source, self._recorder.state, now)
        self._recorder.record_all(observed, failed)

    def probed(self, event: Event) -> None:
        """Records a probe of the doctor; it changes nothing that is shown."""
        self._recorder.notice(framing.PROBE_NATIVE, framing.probe_text(event))

    def _take(self, frames: list[HookFrame]) -> None:
        """Handles frames that nobody waits for, each stage for all of them."""
        events: list[Event] = []
        observed: list[Draft] = []
        failed = self._failure("an observed hook")

        def decode(frame: HookFrame) -> None:
            try:
                event = decode_frame(frame, self._adapters, whole=self._whole)
            except DecodeError as fault:
                event = unread_frame(
                    frame.head, frame.payload, frame.pid, str(fault), frame.at, self._adapters
                )
            if frame.head.proxy:
                self._askers.note_driver(frame.pid, (event.agent, event.session))
            self.probed(event) if framing.is_probe(event) else events.append(event)

        contain_each(frames, decode, failed)
        looked_through: SecretsByText = {}
        for frame in frames:
            if frame.prepared is not None:
                looked_through |= frame.prepared.secrets
        with remembering(looked_through):
            contain_each(events, lambda event: self._observe(event, observed, failed), failed)
            self._recorder.record_all(observed, failed)

    def _observe(self, event: Event, observed: list[Draft], failed: Callable[[str], None]) -> None:
        """Adds an event's records to those written together, or carries its effects out at once."""
        if not self._recorder.has_room():
            return
        effects = self._engine.receive(event, 0, event.at)
        if event.kind in _FOLLOWED:
            self.on_session_event(event)
        drafts = [effect.draft for effect in effects if isinstance(effect, Emit)]
        if len(drafts) == len(effects):
            observed += drafts
        else:
            self._recorder.record_all(observed, failed)
            self._execute(effects)

    def _failure(self, origin: str) -> Callable[[str], None]:
        """Returns a call that records a failure of this program over something observed."""
        return lambda fault: self._recorder.internal_error(fault, origin)


def _nobody(_event: Event) -> None:
    """Ignores the event."""
