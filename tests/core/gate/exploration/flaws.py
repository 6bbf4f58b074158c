"""Brokers and engines with one fault each; the explorer must find every one."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.effects import Effect, Send
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.model.events import Event
from watchgate.core.model.requests import ApprovalRequest, Input, Status, Waiter


class AllowsLate(Broker):
    """Takes a decision after the deadline as well."""

    def decide(self, prefix: str, said: OperatorDecision, now: Instant) -> ApprovalRequest:
        return super().decide(prefix, said, now.plus(-10_000))


class SettlesTwice(Broker):
    """Lets a second decision overrule the first one."""

    def decide(self, prefix: str, said: OperatorDecision, now: Instant) -> ApprovalRequest:
        request = self.find(prefix)
        if not request.open:
            request.status = Status.PENDING
            self.open[request.id] = request
        return super().decide(prefix, said, now)


class IgnoresDigest(Broker):
    """Does not look whether what was shown is what is asked."""

    def decide(self, prefix: str, said: OperatorDecision, now: Instant) -> ApprovalRequest:
        digest = self.find(prefix).data.digest
        return super().decide(prefix, msgspec.structs.replace(said, digest=digest), now)


class ForgetsWaiter(Broker):
    """Keeps only the newest of the connections that wait for a call."""

    def join(self, request: ApprovalRequest, waiter: Waiter, limit_s: float, now: Instant) -> bool:
        sooner = super().join(request, waiter, limit_s, now)
        request.waiters = request.waiters[-1:]
        return sooner


class KeepsWaiter(Broker):
    """Goes on counting on a connection that hung up while another one waits."""

    def hung_up(self, conn: int) -> ApprovalRequest | None:
        request = self.open.get(self._of_conn.get(conn, ""))
        waiters = list(request.waiters) if request else []
        left = super().hung_up(conn)
        if request is not None and request.waiters:
            request.waiters = waiters
        return left


class NeverExpires(Broker):
    """Overlooks a deadline once an allow waits for the disk."""

    def due(self, now: Instant) -> list[ApprovalRequest]:
        return [each for each in super().due(now) if each.status is Status.PENDING]


class TellsBeforeTheDisk(Broker):
    """Takes an allow for final without waiting for the journal."""

    def settle(self, request: ApprovalRequest, event: Input, **how: Any) -> bool:
        done = super().settle(request, event, **how)
        return self.committed(request) or done


class RevivesSettled(Broker):
    """Lets a request that expired be withdrawn as well, and so settles it again."""

    def due(self, now: Instant) -> list[ApprovalRequest]:
        for request in self._settled.values():
            if request.status is Status.EXPIRED:
                request.status = Status.WITHDRAWN
        return super().due(now)


class LosesTheOtherOne(Broker):
    """Drops an equal request when one of the two is settled."""

    def settle(self, request: ApprovalRequest, event: Input, **how: Any) -> bool:
        done = super().settle(request, event, **how)
        for other in list(self.open.values()):
            if other is not request and other.data.digest == request.data.digest:
                del self.open[other.id]
        return done


class OutlastsAClient(Broker):
    """Waits as long as the first client does, though one that joined waits less long."""

    def join(self, request: ApprovalRequest, waiter: Waiter, limit_s: float, now: Instant) -> bool:
        deadline_s = request.deadline_s
        sooner = super().join(request, waiter, limit_s, now)
        request.deadline_s = deadline_s
        return sooner


class TellsAtOnce(Engine):
    """Tells an operator's allow at once, and has it written as well."""

    def decided(self, request: ApprovalRequest) -> list[Effect]:
        effects = super().decided(request)
        if self.broker.committed(request):
            effects += self._settler.answer_waiters(request)
        return effects


class AnswersOne(Engine):
    """Answers one of the connections that wait for a call once it is allowed."""

    def committed(self, request_id: str, ok: bool, now: Instant) -> list[Effect]:
        effects = super().committed(request_id, ok, now)
        sends = [each for each in effects if isinstance(each, Send)]
        return [each for each in effects if each not in sends[1:]]


class LetsWhoJoinedGo(Engine):
    """Takes it for no opinion when nobody decides, on a gate that joined another one."""

    def receive(self, event: Event, conn: int, now: Instant) -> list[Effect]:
        effects = super().receive(event, conn, now)
        for request in self.broker.open.values():
            request.waiters[1:] = [
                msgspec.structs.replace(each, silence="handback") for each in request.waiters[1:]
            ]
        return effects


class LosesOneWithTheConsole(Engine):
    """Forgets a request when the last console leaves."""

    def console_count(self, count: int, now: Instant) -> list[Effect]:
        if not count and self.broker.open:
            self.broker.open.popitem()
        return super().console_count(count, now)
