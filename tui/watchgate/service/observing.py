"""Events that nobody waits for: observed hook frames, and the lines of sources.

A frame waits a moment for others, and each stage is done for all of them. Their records are written
together; other effects, such as the end of a request, are carried out at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from watchgate.agents.base import Adapter, DecodeError
from watchgate.agents.streams.source import Source
from watchgate.core.clock import Clock, Instant
from watchgate.core.effects import Effect, Emit
from watchgate.core.engine import Engine
from watchgate.core.events import Event
from watchgate.core.records import Draft
from watchgate.core.secrets.finding import Found, remembering
from watchgate.service import probe
from watchgate.service.askers import Askers
from watchgate.service.boundary import each_contained
from watchgate.service.frames import Frame, decode_frame, unread_frame
from watchgate.service.gathering import Gathering
from watchgate.service.lines import Line, Unread, decode_chunk, over_with
from watchgate.service.recorder import Recorder
from watchgate.service.taking import Asker, Waiting
from watchgate.service.turns import SLICE_S

_FOLLOWED = frozenset(
    {"session.start", "session.end", "turn.end", "turn.error", "compact.pre", "compact.post"}
)
"""Events after which a transcript may be read, or that say where it is."""

Ask = Callable[[Event, Line | Unread, Waiting, Instant], None]


class Observing:
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
        askers: Askers,
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
        self._gathered: Gathering[Frame] = Gathering(self._take, later)
        self.on_session_event: Callable[[Event], None] = _nobody

    def frame(self, frame: Frame) -> None:
        """Takes a whole hook frame, which may wait a moment for others."""
        self._gathered.add(frame, len(frame.payload))

    def catch_up(self) -> None:
        """Handles the waiting frames."""
        self._gathered.flush()

    def lines(
        self, chunk: bytes, source: Source, asker: Asker, secrets: Found | None = None
    ) -> Iterator[None]:
        """Handles whole JSON lines of a source, in order; yields each time that they took a slice.

        `secrets` are those of texts among them that were looked through before.
        """
        self.catch_up()
        now = self._clock.now()
        observed: list[Draft] = []
        failed = self._failure(source.peer)
        known: Found = secrets or {}

        def take(decoded: tuple[Event, Line | Unread | None]) -> None:
            event, line = decoded
            if self._engine.broker.open:
                event = msgspec.structs.replace(event, teller_pid=source.pid or None)
            if isinstance(line, Unread) or (line is not None and event.lane.waits):
                self._recorder.record_all(observed, failed)
                conn = asker()
                conn.secrets = known
                self._ask(event, line, conn, now)
            else:
                self._observe(event, observed, failed)

        until_s = now.mono_s + SLICE_S
        for each in decode_chunk(chunk, now, source):
            with remembering(known):
                each_contained((each,), take, failed)
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
        each_contained(left, lambda event: self._observe(event, observed, failed), failed)
        observed += over_with(source, self._recorder.state, now)
        self._recorder.record_all(observed, failed)

    def probed(self, event: Event) -> None:
        """Records a probe of the doctor; it changes nothing that is shown."""
        self._recorder.notice(probe.NATIVE, probe.about(event))

    def _take(self, frames: list[Frame]) -> None:
        """Handles frames that nobody waits for, each stage for all of them."""
        events: list[Event] = []
        observed: list[Draft] = []
        failed = self._failure("an observed hook")

        def decode(frame: Frame) -> None:
            try:
                event = decode_frame(frame, self._adapters, whole=self._whole)
            except DecodeError as fault:
                event = unread_frame(
                    frame.head, frame.payload, frame.pid, str(fault), frame.at, self._adapters
                )
            if frame.head.proxy:
                self._askers.note_driver(frame.pid, (event.agent, event.session))
            self.probed(event) if probe.is_probe(event) else events.append(event)

        each_contained(frames, decode, failed)
        looked_through: Found = {}
        for frame in frames:
            if frame.prepared is not None:
                looked_through |= frame.prepared.secrets
        with remembering(looked_through):
            each_contained(events, lambda event: self._observe(event, observed, failed), failed)
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
