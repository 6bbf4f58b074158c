"""Carries recorded answers, ends and writes of requests over to those of a replay.

Where the replay asks nobody about a call, the answer that was recorded for it is let go. Where
it asks and nobody was asked then, the request stays without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from watchgate.core.base.clock import Instant
from watchgate.core.gate import record_builders
from watchgate.core.gate.effects import Effect, SyncJournal
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import OperatorDecision, Refused
from watchgate.core.model.outcomes import ENDINGS, SentDecision
from watchgate.core.model.records import DecisionData, Record, RequestData, Word
from watchgate.core.model.requests import ApprovalRequest, Input, Status
from watchgate.service.replaying.recorded_run import LOST_ALLOWS, RecordedRun

LATE_S = 1.0
"""A live core looks at its deadlines at least this often."""

_CLOSED: Final = ("denied-core-stopped", "denied-no-journal")
_LAST_LEFT: Final = "the last console left"


class RecordedAnswers:
    """The requests of a replay by the ids that they were recorded with."""

    def __init__(
        self, recording: RecordedRun, engine: Engine, do: Callable[[list[Effect]], None]
    ) -> None:
        self.over: set[str] = set()
        self._recording = recording
        self._engine = engine
        self._do = do
        self._ids: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self._uncommitted: list[str] = []

    def know(self, recorded: str, again: str) -> None:
        """Maps a request's recorded id to the one that it has this time."""
        if self._open(recorded) is None:
            self._ids[recorded], self._recorded[again] = again, recorded

    def decided(self, request: str) -> None:
        """Notes that an allow was decided, and waits for the disk."""
        self._uncommitted.append(request)

    def commit(self, upto: int) -> None:
        """Commits the allows that were on disk by record number `upto`, but for unsent ones."""
        waiting, self._uncommitted = self._uncommitted, []
        for again in waiting:
            request = self._engine.broker.open.get(again)
            if request is None:
                continue
            recorded = self._recorded.get(again)
            committed = self._recording.was_committed_by(recorded, upto)
            if not committed or recorded in self._recording.undelivered:
                self._uncommitted.append(again)
            else:
                self._do(self._engine.committed(again, True, request.ending.at))

    def play(self, record: Record, now: Instant) -> None:
        """Applies what a record says of a request to that request."""
        name = record.request or str(record.data.get("grant") or record.data.get("id") or "")
        undelivered = record.kind == "effect.undelivered" and record.data.get("what") in LOST_ALLOWS
        if record.kind == "grant.revoked":
            self._revoke(name, str(record.data.get("by", "")), now)
        elif record.kind == "approval.extended":
            self._extend(name, record, now)
        elif record.kind == "approval.decided" or undelivered:
            self._end(name, record, now, undelivered=undelivered)
        else:
            self.commit(record.seq)

    def _end(self, name: str, record: Record, now: Instant, *, undelivered: bool) -> None:
        ended = self._recording.ended.get(name)
        if ended is None:
            return
        word: Word = record.data["word"]
        if word == "allowed-by-grant" and not undelivered:
            # The grant may have been given by an allow that waits for the disk.
            self.commit(record.seq)
        request = self._open(name)
        if word not in ("allowed-by-operator", "answered-by-operator"):
            self.over.add(name)
        wanted = Status.COMMITTING if undelivered else Status.PENDING
        if request is None or request.status is not wanted:
            return
        if not undelivered and (sent := ENDINGS[word].decision):
            self._say(request, sent, ended, now)
        elif word == "edited-by-operator":
            self._edit(name, request, ended, now)
        elif word == "allowed-by-grant" and not undelivered:
            self._let_through(request, ended, now)
        else:
            self._without_answer(request, word, ended.reason, now, undelivered=undelivered)

    def _say(
        self, request: ApprovalRequest, sent: SentDecision, ended: DecisionData, now: Instant
    ) -> None:
        offered = ended.scope if ended.scope in request.data.scopes else "once"
        decision = OperatorDecision(
            decision=sent,
            by=ended.by,
            digest=request.data.digest,
            reason=ended.reason,
            scope=offered,
            width=ended.width if offered != "once" else None,
            confirmed=True,
            answers=ended.answers,
        )
        try:
            decided = self._engine.broker.decide(request.id, decision, now)
        except Refused:
            return  # it is not offered this time, or came too late
        self._do(self._engine.decided(decided))

    def _edit(self, name: str, request: ApprovalRequest, ended: DecisionData, now: Instant) -> None:
        made = self._made_of(name)
        if made is None:
            return
        decision = OperatorDecision(
            decision="allow", by=ended.by, digest=request.data.digest, confirmed=True
        )
        try:
            edited, effects = self._engine.edit(request, made[1].tool.input, decision, now)
        except Refused:
            return
        self.know(made[0], edited.id)
        self._do(effects)

    def _made_of(self, name: str) -> tuple[str, RequestData] | None:
        requests = self._recording.asked.items()
        return next((each for each in requests if each[1].edited_from == name), None)

    def _let_through(self, request: ApprovalRequest, ended: DecisionData, now: Instant) -> None:
        """Answers with a grant that was given outside of the recording."""
        settled = self._engine.broker.settle(
            request, Input.ALLOW, word=ended.word, by=ended.by, now=now
        )
        if settled:
            self._do([record_builders.decided(request), SyncJournal(request.id)])

    def _without_answer(
        self, request: ApprovalRequest, word: Word, reason: str, now: Instant, *, undelivered: bool
    ) -> None:
        """Ends a request that nobody answered, in the way that was recorded.

        Args:
            request: The request of the replay.
            word: The word in which it ended then.
            reason: The recorded reason.
            now: The time of the replay.
            undelivered: Whether the allow was decided then and never sent.
        """
        engine = self._engine
        if word.endswith("-by-timeout"):
            if word.startswith("handed-back"):
                self._leave_closed(request, now)
            if request.deadline_s <= now.mono_s + LATE_S:
                late = Instant(now.wall_us, max(now.mono_s, request.deadline_s))
                self._do(engine.expire(late))
        elif word == "withdrawn":
            self.hang_up(request, now)
        elif undelivered and word in (*_CLOSED, "handed-back"):
            self._do(engine.committed(request.id, False, now))
        elif word in _CLOSED:
            self._leave_every_closed(now)
            self._do(engine.close_all(word, reason, now))
        elif word == "denied-no-approver" or reason == _LAST_LEFT:
            self._do(engine.console_count(0, now))
        elif word in ("denied-failure", "handed-back"):
            if word == "handed-back":
                self._leave_closed(request, now)
            for waiter in list(request.waiters):
                self._do(engine.failed(waiter.conn, reason, now))

    def let_pass(self, names: Iterable[str], now: Instant) -> None:
        """Releases requests whose agent went on by the next event: no gate waits for them."""
        for name in names:
            request = self._open(name)
            if request is not None:
                self._leave_closed(request, now)

    def hang_up(self, request: ApprovalRequest, now: Instant) -> None:
        """Disconnects everybody who waits for a request."""
        for waiter in list(request.waiters):
            self._do(self._engine.hung_up(waiter.conn, now))

    def _leave_closed(self, request: ApprovalRequest, now: Instant) -> None:
        """Hangs up clients that left while others waited, of which no record tells."""
        open_ones = [each for each in request.waiters if each.silence != "deny"]
        if open_ones:
            for waiter in [each for each in request.waiters if each.silence == "deny"]:
                self._do(self._engine.hung_up(waiter.conn, now))

    def _leave_every_closed(self, now: Instant) -> None:
        """Does the same for all requests that end together."""
        for request in list(self._engine.broker.open.values()):
            ended = self._recording.ended.get(self._recorded.get(request.id, ""))
            if ended is not None and ended.word.startswith("handed-back"):
                self._leave_closed(request, now)

    def _extend(self, name: str, record: Record, now: Instant) -> None:
        request = self._open(name)
        if request is None:
            return
        seconds = (int(record.data["deadline_at"]) - request.data.deadline_at) / 1_000_000
        if seconds <= 0:
            return
        try:
            extended = self._engine.broker.extend(request.id, seconds, now)
        except Refused:
            return
        self._do(self._engine.extended(extended, str(record.data.get("by", "")), now))

    def _revoke(self, name: str, by: str, now: Instant) -> None:
        try:
            _, effects = self._engine.grants.revoke(self._ids.get(name, name), by, now)
        except Refused:
            return  # one that was given outside of the recording
        self._do(effects)

    def _open(self, recorded: str) -> ApprovalRequest | None:
        return self._engine.broker.open.get(self._ids.get(recorded, ""))
