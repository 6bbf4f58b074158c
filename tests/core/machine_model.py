"""What must hold after every step, kept by a watcher that does not look into the engine."""

from __future__ import annotations

from typing import Any, Literal

from tests.core.world import World
from watchgate.core.gate.effects import Send
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.requests import ApprovalRequest, Settlement, Status
from watchgate.core.model.verdicts import SayAllow, SayNothing
from watchgate.core.presence.proof import Proof

Terms = tuple[str, str]
"""The scope of a grant and its width."""


class Watch:
    """Remembers who asked, who was allowed what by whom, and what reached the disk."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.conns: dict[int, Event] = {}
        self.gone: set[int] = set()
        self.requests: dict[str, ApprovalRequest] = {}
        self._allowed: set[str] = set()
        self._lasting: set[str] = set()
        self._granted: set[str] = set()
        self._terms: dict[str, Terms] = {}
        self._wide: list[tuple[ApprovalRequest, Terms]] = []
        self._on_disk: set[str] = set()
        self._ended: dict[str, tuple[Status, Settlement]] = {}
        self._seen = 0

    def known(self) -> list[ApprovalRequest]:
        """Every request there ever was, the newest last."""
        return list(self.requests.values())

    def ask(self, event: Event) -> None:
        """A new connection asks."""
        conn = len(self.conns) + 1
        self.conns[conn] = event
        sent = len(self.world.sends)
        self.world.send(event, conn)
        # Only a call's own arrival may be answered without a request.
        assert all(send.conn == conn for send in self.world.sends[sent:] if send.request is None)
        self._seen = len(self.world.sends) if sent == self._seen else self._seen
        for send in self.world.sends[sent:]:
            self._judge(send, own=conn)

    def decide(
        self, request: ApprovalRequest, decision: Literal["allow", "deny", "handback"], **facts: Any
    ) -> None:
        """An operator tries to decide; a refusal must change nothing."""
        before = (request.status, request.settlement, len(self.world.records))
        try:
            self.world.decide(request, decision, **facts)
        except Refused:
            assert before == (request.status, request.settlement, len(self.world.records))
            return
        assert before[0] is Status.PENDING
        assert facts["digest"] in (None, request.data.digest)
        if decision == "allow":
            assert facts["digest"] is not None
            assert facts.get("proof", Proof()).is_proven
            self._allowed.add(request.id)
            if facts["scope"] != "once":
                self._lasting.add(request.id)
                width = facts.get("width") or ("program" if facts["scope"] == "always" else "exact")
                self._terms[request.id] = (facts["scope"], width)

    def edit(self, request: ApprovalRequest, args: dict[str, Any], **facts: Any) -> None:
        """An operator tries to allow another input; a refusal must change nothing."""
        before = (request.status, request.settlement, len(self.world.records))
        try:
            edited = self.world.edit(request, args, **facts)
        except Refused:
            assert before == (request.status, request.settlement, len(self.world.records))
            return
        assert before[0] is Status.PENDING
        assert request.status is Status.EDITED
        assert facts["digest"] in (request.data.digest, edited.data.digest)
        assert facts.get("proof", Proof()).is_proven
        assert edited.data.tool.input == args
        assert [each.conn for each in edited.waiters] == [each.conn for each in request.waiters]
        # Handed back, the call would run as it was before.
        assert edited.silence == "deny"
        self.requests[edited.id] = edited
        self._allowed.add(edited.id)

    def commit(self, request_id: str, ok: bool) -> None:
        """The disk answers for one allow."""
        request = self.world.broker.get(request_id)
        assert request is not None
        in_time = self.world.now.mono_s < request.deadline_s
        if ok and in_time and request.status is Status.COMMITTING:
            self._on_disk.add(request_id)
            if request_id in self._lasting:
                terms = self._terms[request_id]
                if terms == ("always", "exact") or terms[1] != "exact":
                    self._wide.append((request, terms))
                else:
                    self._granted.add(request.data.digest)
        self.world.do(self.world.engine.committed(request_id, ok, self.world.now))

    def hang_up(self, conn: int) -> None:
        """A client goes away, answered or not."""
        self.gone.add(conn)
        self.world.hang_up(conn)

    def waiting(self) -> set[int]:
        """The connections that were neither answered nor hung up."""
        return set(self.conns) - set(self.world.replies) - self.gone

    def check(self) -> None:
        """Everything that must hold at any moment."""
        world = self.world
        self.requests.update(world.broker.open)
        for send in world.sends[self._seen :]:
            self._judge(send, own=None)
        self._seen = len(world.sends)
        assert all(len(replies) == 1 for replies in world.replies.values())
        assert all(world.broker.of_conn(conn) in world.broker.open for conn in self.waiting())
        assert set(world.state.pending) == world.pending
        assert world.state.skipped == 0
        deadlines = [request.deadline_s for request in world.broker.open.values()]
        lasting = world.engine.grants.next_deadline()
        assert world.engine.next_deadline() == min(
            (each for each in (*deadlines, lasting) if each is not None), default=None
        )
        self._check_records()
        self._check_endings()

    def _judge(self, send: Send, own: int | None) -> None:
        """An answer must be one that somebody gave, or what silence means on its lane."""
        assert send.conn not in self.gone
        request = self.world.broker.get(send.request) if send.request else None
        if isinstance(send.reply, SayAllow):
            assert request is not None
            assert request.status is Status.ALLOWED
            assert request.id in self._on_disk
            grantable = request.data.risk in ("low", "medium")
            granted = request.data.digest in self._granted or any(
                _lets_through(given, *terms, request) for given, terms in self._wide
            )
            assert request.id in self._allowed or (grantable and granted)
            if request.rewritten:
                assert send.reply.input == request.data.tool.input
            else:
                assert send.reply.input is None
                assert self._subject(send.event) == self._subject(request.subject)
        closed = self.world.engine.profile == "strict" and send.event.lane is Lane.GATE_READ
        if isinstance(send.reply, SayNothing) and (closed or send.event.lane is Lane.GATE):
            if request is None:
                assert send.conn == own
            else:
                word = request.ending.word
                told = word.startswith("allowed") and not send.event.can.allow
                assert told or word == "handed-back-by-operator"

    @staticmethod
    def _subject(event: Event) -> tuple[Any, ...]:
        assert event.tool is not None
        return event.agent, event.session, event.sub_id, event.cwd, event.tool.input

    def _check_records(self) -> None:
        asked = [r.request for r in self.world.all("approval.requested")]
        decided = [r.request for r in self.world.all("approval.decided")]
        assert len(set(asked)) == len(asked)
        assert sorted(map(str, decided)) == sorted(
            rid for rid in map(str, asked) if rid not in self.world.pending
        )

    def _check_endings(self) -> None:
        for request in self.requests.values():
            if request.open:
                continue
            end = (request.status, request.ending)
            assert self._ended.setdefault(request.id, end) == end


def _lets_through(given: ApprovalRequest, scope: str, width: str, asked: ApprovalRequest) -> bool:
    """Whether a wide grant may answer a request, by the letter of docs/grants.md."""
    if (given.subject.agent, given.data.cwd) != (asked.subject.agent, asked.data.cwd):
        return False
    if scope != "always" and given.subject.session != asked.subject.session:
        return False
    theirs, ours = (str(each.data.tool.input["command"]).split() for each in (given, asked))
    if width == "exact":
        return ours == theirs
    stays = not any(word.startswith("/") for word in ours)
    if width == "folder" or ours == theirs:
        return stays or ours == theirs
    return stays and ours[:2] == theirs[:2]
