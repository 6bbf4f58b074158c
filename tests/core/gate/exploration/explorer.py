"""Breadth first through every situation: the first broken law has the shortest way to it."""

from __future__ import annotations

from collections import Counter, deque

import msgspec

from tests.core.gate.exploration import laws
from tests.core.gate.exploration.moves import Move, make, moves, refusals
from tests.core.gate.exploration.scopes import Scope
from tests.core.gate.exploration.situation import Form, Situation
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.engine import Engine
from watchgate.core.model.requests import ApprovalRequest


class Broken(Exception):
    """A law that does not hold, with the shortest way there."""


class Found(msgspec.Struct):
    """What was explored: figures, and how often each named thing happened."""

    situations: int = 0
    moves: int = 0
    refused: int = 0
    longest: int = 0
    happened: Counter[str] = msgspec.field(default_factory=Counter)


class Explorer:
    """All situations of a scope that can be reached."""

    def __init__(
        self, scope: Scope, broker: type[Broker] = Broker, engine: type[Engine] = Engine
    ) -> None:
        self._first = Situation(broker, scope, engine)
        for conn in scope.asked:
            before, move = self._first.copied(), Move("asks", conn)
            laws.hold(before, move, self._first, make(self._first, move))
        self._came: dict[Form, tuple[Form, Move] | None] = {}
        self._clock: dict[Form, Form] = {}
        self._settled: set[Form] = set()
        self._next: dict[Form, dict[Move, Form]] = {}
        self._twins: dict[Form, Situation] = {}
        self.found = Found()

    def run(self) -> Found:
        """Explore everything; raises `Broken`."""
        start = self._first.form()
        self._came[start] = None
        waiting = deque([(start, self._first, 0)])
        while waiting:
            form, here, depth = waiting.popleft()
            self.found.longest = max(self.found.longest, depth)
            for after_form, after in self._from(form, here):
                waiting.append((after_form, after, depth + 1))
        self.found.situations = len(self._came)
        self._time_alone_settles_everything()
        return self.found

    def _from(self, form: Form, here: Situation) -> list[tuple[Form, Situation]]:
        new: list[tuple[Form, Situation]] = []
        wrong = list(refusals(here))
        try:
            laws.changes_nothing(here, wrong)
            laws.ends_well(here)
        except AssertionError as fault:
            raise Broken(self._way(form, str(fault))) from None
        self.found.refused += len(wrong)
        self.found.happened.update(f"refused {each.code}" for each in wrong)
        if not here.broker.open:
            self._settled.add(form)
        for move in moves(here):
            after = here.copied()
            try:
                effects = make(after, move)
                laws.hold(here, move, after, effects)
            except AssertionError as fault:
                raise Broken(self._way(form, f"{move}: {fault}")) from None
            self.found.moves += 1
            self._note(here, move, after)
            after_form = after.form()
            if move.what in ("time passes", "expire"):
                self._clock[form] = after_form
            self._next.setdefault(form, {})[move] = after_form
            if after_form in self._came:
                self._twins.setdefault(after_form, after)
            else:
                self._came[after_form] = form, move
                new.append((after_form, after))
        return new

    def differing(self) -> list[str]:
        """The situations that were taken for one and go on in different ways; there must be none.

        Each is tried from the second way that led to it.
        """
        found: list[str] = []
        for form, twin in self._twins.items():
            goes_on: dict[Move, Form] = {}
            for move in moves(twin):
                after = twin.copied()
                laws.hold(twin, move, after, make(after, move))
                goes_on[move] = after.form()
            if goes_on != self._next.get(form, {}):
                found.append(self._way(form, "another way to the same situation goes on otherwise"))
        return found

    def _time_alone_settles_everything(self) -> None:
        """From every situation the clock alone leads to one with nothing open."""
        for form in self._came:
            way = [form]
            while way[-1] not in self._settled:
                after = self._clock.get(way[-1])
                if after is None or after in way:
                    raise Broken(self._way(form, "time alone never settles what is open here"))
                way.append(after)
            self._settled.update(way)

    def _note(self, here: Situation, move: Move, after: Situation) -> None:
        was = here.requests()
        for request in after.requests().values():
            before = was.get(request.id)
            if before is None or before.status != request.status:
                how = f" ({request.settlement.word})" if request.settlement else ""
                status = before.status if before else "asked"
                self.found.happened[f"{move.what}: {status} -> {request.status}{how}"] += 1
            elif request.open and _waits(before) != _waits(request):
                self.found.happened[f"{move.what}: {request.status}, {_waits(request)}"] += 1
        if move.what == "asks" and here.requests().keys() == after.requests().keys():
            self.found.happened[f"asks: {after.at[move.conn]} without a request"] += 1

    def _way(self, form: Form, fault: str) -> str:
        steps: list[str] = []
        came = self._came[form]
        while came is not None:
            form, move = came
            steps.append(str(move))
            came = self._came[form]
        lines = [f"  {n}. {step}" for n, step in enumerate(reversed(steps), 1)]
        return "\n".join(["after", *lines, fault])


def _waits(request: ApprovalRequest) -> str:
    return f"{len(request.waiters)} wait"
