"""One situation that the engine can be in: the real engine, the time, and who is still there."""

from __future__ import annotations

import copy
from typing import Any, Final, Literal
from unittest.mock import patch

from tests.core.builders import START
from tests.core.gate.exploration.cast import CONSOLES, request_of
from tests.core.gate.exploration.scopes import Scope
from tests.core.world import Rules
from watchgate.agents.agent_facts import traits_in
from watchgate.agents.registry import ADAPTERS
from watchgate.core.base.clock import Instant
from watchgate.core.config.config import Approval, Config
from watchgate.core.gate import engine as engine_module
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.call_tracker import TrackedCall
from watchgate.core.gate.engine import Engine
from watchgate.core.model.requests import ApprovalRequest, Status

At = Literal["not yet", "waits", "over"]
Form = tuple[Any, ...]

_TRAITS: Final = traits_in(ADAPTERS)


class Asking:
    """Gives a request the id of the connection that asks, so that ids do not tell the order."""

    conn = 0

    def __call__(self) -> str:
        return request_of(self.conn)

    def __deepcopy__(self, memo: dict[int, Any]) -> Asking:
        return self


class Situation:
    """What an engine was brought to; `at` tells how far each connection is.

    `ran` are the connections whose call the agent has run by itself, `consoles` how many are
    attached, `stopped` whether the core has closed everything.
    """

    def __init__(self, broker: type[Broker], scope: Scope, engine: type[Engine] = Engine) -> None:
        self.scope = scope
        self.now: Instant = START
        self.asking = Asking()
        self.at: dict[int, At] = dict.fromkeys(scope.conns, "not yet")
        self.ran: frozenset[int] = frozenset()
        self.consoles = len(CONSOLES)
        self.stopped = False
        config = Config(profile="strict", approval=Approval(unattended=scope.unattended))
        with patch.object(engine_module, "Broker", broker):
            self.engine = engine(config, Rules("strict"), self.asking, traits=_TRAITS)
        self.engine.console_count(self.consoles, self.now)

    @property
    def broker(self) -> Broker:
        """The broker under test."""
        return self.engine.broker

    def requests(self) -> dict[str, ApprovalRequest]:
        """Every request there is, open ones first."""
        return {**self.broker.open, **self.broker._settled}

    def copied(self) -> Situation:
        """An engine of its own in the same situation.

        What is frozen is shared, and so is what no answer depends on: handlers, of which there are
        none, and the alarms about calls that passed no gate.
        """
        engine = self.engine
        alike = (engine.config, engine._gate, engine._bus, engine._pending, engine.preset)
        watches = (engine.coverage, engine._ended)
        memo: dict[int, Any] = {id(each): each for each in (*alike, *watches)}
        for request in self.requests().values():
            memo[id(request)] = twin_of = copy.copy(request)
            twin_of.waiters = list(request.waiters)
        for call in self._calls():
            memo[id(call)] = copy.copy(call)
        twin = copy.copy(self)
        twin.engine = copy.deepcopy(engine, memo)
        twin.at = dict(self.at)
        return twin

    def form(self) -> Form:
        """What of it can make a difference to anything that is still to come.

        Of settled requests only that they are: nothing may move them, and every move is held to
        that. Times are counted from now. What counts more requests than there are here (pauses, the
        offer to allow for good) is left out.
        """
        return (
            tuple(self.at.values()),
            self.ran,
            self.consoles,
            self.stopped,
            tuple(sorted(self._form(each) for each in self.requests().values())),
            tuple(sorted(_call_form(each) for each in self._calls())),
            tuple(
                (grant.id, grant.view.scope, grant.until_s and grant.until_s - self.now.mono_s)
                for _, grant in sorted(self.engine.grants._exact.items())
            ),
        )

    def _form(self, request: ApprovalRequest) -> Form:
        if not request.open:
            return (request.id,)
        committing = request.status is Status.COMMITTING
        conns = tuple(sorted(waiter.conn for waiter in request.waiters))
        scope = request.ending.scope if committing else ""
        return request.id, request.status, request.deadline_s - self.now.mono_s, conns, scope

    def _calls(self) -> list[TrackedCall]:
        sessions = self.engine._calls._sessions.values()
        return [call for each in sessions for call in (*each.open.values(), *each.ended)]


def _call_form(call: TrackedCall) -> Form:
    carried = type(call.carried.reply).__name__ if call.carried else ""
    told = (call.decided or "", carried, call.request or "")
    flags = (call.over, call.left, call.asked, call.waited, call.gated, call.handed_on, call.ran)
    return call.session, call.ref, call.natives, told, flags
