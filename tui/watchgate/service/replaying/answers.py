"""What became of requests, carried over to those of a replay: answers, ends, and what was written.

Where the replay asks nobody about a call, the answer that was recorded for it is let go. Where it
asks and nobody was asked then, the request stays without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal

from watchgate.core import drafts
from watchgate.core.clock import Instant
from watchgate.core.decisions import Decision, Refused
from watchgate.core.effects import Commit, Effect
from watchgate.core.engine import Engine
from watchgate.core.records import DecisionData, Record, RequestData, Word
from watchgate.core.requests import Input, Request, Status
from watchgate.service.replaying.recording import UNTOLD, Recording

LATE_S = 1.0
"""A live core looks at its deadlines at least this often."""

_SAID: Final[dict[str, Literal["allow", "deny", "handback", "answer"]]] = {
    "allowed-by-operator": "allow",
    "denied-by-operator": "deny",
    "handed-back-by-operator": "handback",
    "answered-by-operator": "answer",
}
_CLOSED: Final = ("denied-core-stopped", "denied-no-journal")
_LAST_LEFT: Final = "the last console left"


class Answers:
    """The requests of a replay by the ids that they were recorded with."""

    def __init__(
        self, recording: Recording, engine: Engine, do: Callable[[list[Effect]], None]
    ) -> None:
        self.over: set[str] = set()
        self._recording = recording
        self._engine = engine
        self._do = do
        self._ids: dict[str, str] = {}
        self._recorded: dict[str, str] = {}
        self._uncommitted: list[str] = []

    def know(self, recorded: str, again: str) -> None:
        """The request that was recorded by one id has another this time."""
        if self._open(recorded) is None:
            self._ids[recorded], self._recorded[again] = again, recorded

    def decided(self, request: str) -> None:
        """An allow was decided, and waits for the disk."""
        self._uncommitted.append(request)

    def commit(self, upto: int) -> None:
        """What was on disk by the record of this number is; some of it was never to be told."""
        waiting, self._uncommitted = self._uncommitted, []
        for again in waiting:
            request = self._engine.broker.open.get(again)
            if request is None:
                continue
            recorded = self._recorded.get(again)
            told = self._recording.told_by(recorded, upto)
            if not told or recorded in self._recording.untold:
                self._uncommitted.append(again)
            else:
                self._do(self._engine.committed(again, True, request.ending.at))

    def play(self, record: Record, now: Instant) -> None:
        """What a record tells of a request happens to it."""
        name = record.request or str(record.data.get("grant") or record.data.get("id") or "")
        untold = record.kind == "effect.undelivered" and record.data.get("what") in UNTOLD
        if record.kind == "grant.revoked":
            self._revoke(name, str(record.data.get("by", "")), now)
        elif record.kind == "approval.extended":
            self._extend(name, record, now)
        elif record.kind == "approval.decided" or untold:
            self._end(name, record, now, untold=untold)
        else:
            self.commit(record.seq)

    def _end(self, name: str, record: Record, now: Instant, *, untold: bool) -> None:
        ended = self._recording.ended.get(name)
        if ended is None:
            return
        word: Word = record.data["word"]
        if word == "allowed-by-grant" and not untold:
            self.commit(
                record.seq
            )  # the grant may have been given by an allow that waits for the disk
        request = self._open(name)
        if word not in ("allowed-by-operator", "answered-by-operator"):
            self.over.add(name)
        wanted = Status.COMMITTING if untold else Status.PENDING
        if request is None or request.status is not wanted:
            return
        if word in _SAID and not untold:
            self._say(request, ended, now)
        elif word == "edited-by-operator":
            self._edit(name, request, ended, now)
        elif word == "allowed-by-grant" and not untold:
            self._let_through(request, ended, now)
        else:
            self._without_answer(request, word, ended.reason, now, untold=untold)

    def _say(self, request: Request, ended: DecisionData, now: Instant) -> None:
        offered = ended.scope if ended.scope in request.data.scopes else "once"
        said = Decision(
            decision=_SAID[ended.word],
            by=ended.by,
            digest=request.data.digest,
            reason=ended.reason,
            scope=offered,
            width=ended.width if offered != "once" else None,
            confirmed=True,
            answers=ended.answers,
        )
        try:
            decided = self._engine.broker.decide(request.id, said, now)
        except Refused:
            return  # it is not offered this time, or came too late
        self._do(self._engine.decided(decided))

    def _edit(self, name: str, request: Request, ended: DecisionData, now: Instant) -> None:
        made = self._made_of(name)
        if made is None:
            return
        said = Decision(decision="allow", by=ended.by, digest=request.data.digest, confirmed=True)
        try:
            edited, effects = self._engine.edit(request, made[1].tool.input, said, now)
        except Refused:
            return
        self.know(made[0], edited.id)
        self._do(effects)

    def _made_of(self, name: str) -> tuple[str, RequestData] | None:
        found = self._recording.asked.items()
        return next((each for each in found if each[1].edited_from == name), None)

    def _let_through(self, request: Request, ended: DecisionData, now: Instant) -> None:
        """A grant that was given outside of the recording answered."""
        settled = self._engine.broker.settle(
            request, Input.ALLOW, word=ended.word, by=ended.by, now=now
        )
        if settled:
            self._do([drafts.decided(request), Commit(request.id)])

    def _without_answer(
        self, request: Request, word: Word, reason: str, now: Instant, *, untold: bool
    ) -> None:
        engine = self._engine
        if word.endswith("-by-timeout"):
            if word.startswith("handed-back"):
                self._leave_closed(request, now)
            if request.deadline_s <= now.mono_s + LATE_S:
                late = Instant(now.wall_us, max(now.mono_s, request.deadline_s))
                self._do(engine.expire(late))
        elif word == "withdrawn":
            self.hang_up(request, now)
        elif untold and word in (*_CLOSED, "handed-back"):
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
        """The event that comes next tells that the agent is past these: no gate waits for them."""
        for name in names:
            request = self._open(name)
            if request is not None:
                self._leave_closed(request, now)

    def hang_up(self, request: Request, now: Instant) -> None:
        """Everybody who waits for a request goes away."""
        for waiter in list(request.waiters):
            self._do(self._engine.hung_up(waiter.conn, now))

    def _leave_closed(self, request: Request, now: Instant) -> None:
        """Clients that leave while others wait leave no record; the end tells who was left."""
        open_ones = [each for each in request.waiters if each.silence != "deny"]
        if open_ones:
            for waiter in [each for each in request.waiters if each.silence == "deny"]:
                self._do(self._engine.hung_up(waiter.conn, now))

    def _leave_every_closed(self, now: Instant) -> None:
        """The same for all requests that end together."""
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

    def _open(self, recorded: str) -> Request | None:
        return self._engine.broker.open.get(self._ids.get(recorded, ""))
