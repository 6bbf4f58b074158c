"""Random lanes of equal calls, with and without ids: whose result it is, and whose decision."""

from __future__ import annotations

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.core.builders import permission, post, pre, shell
from watchgate.core.gate.call_tracker import CallTracker, CarriedDecision, Decided, TrackedCall
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import SayAllow

INPUTS = st.sampled_from(["high a", "high b"])
NATIVES = st.sampled_from(["preToolUse", "beforeShellExecution"])
IDS = st.sampled_from([None, "1", "2", "3"])


class Lanes(RuleBasedStateMachine):
    """A session whose calls are begun, asked about, decided and ended in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = CallTracker()
        self.ended: list[TrackedCall] = []
        self.requests = 0
        self.given: dict[str, list[tuple[str, str]]] = {}

    @rule(command=INPUTS, id=IDS, native=NATIVES, lane=st.sampled_from(Lane))
    def before(self, command: str, id: str | None, native: str, lane: Lane) -> None:
        event = pre(shell(command, id), lane=lane)
        self.take(event, native)

    @rule(command=INPUTS, id=IDS)
    def asks(self, command: str, id: str | None) -> None:
        self.take(permission(shell(command, id)), "PermissionRequest")

    def take(self, event: Event, native: str) -> None:
        event = msgspec.structs.replace(event, native=native)
        tool = event.tool
        assert tool is not None
        equal = self.equal(tool.input_hash)
        call = self.calls.begin(event, tool)
        assert not call.over
        assert call.tool.input_hash == tool.input_hash
        named = [id for _, id in call.ids]
        assert len(named) <= 1, "two ids of one numbering are two calls"
        assert tool.call_id is None or named == [tool.call_id]
        if tool.call_id is None and call in equal and native == "PermissionRequest":
            backs = [each for each in equal if each.decided == "handback" and self.free(each)]
            assert call.decided == "handback" or not backs or call in backs
        if call.carried is not None:
            told = self.given.setdefault(call.carried.request, [])
            if tool.call_id is None:
                assert (call.ref, native) not in told, "a decision answers each lane once"
                told.append((call.ref, native))
            assert {ref for ref, _ in told} <= {call.ref}, "and only those of one call"

    @staticmethod
    def free(call: TrackedCall) -> bool:
        return "PermissionRequest" not in call.natives

    def equal(self, input_hash: str) -> list[TrackedCall]:
        return [
            c for c in self.calls.of_session("claude", "one") if c.tool.input_hash == input_hash
        ]

    @precondition(lambda self: self.calls.of_session("claude", "one"))
    @rule(data=st.data(), said=st.sampled_from(["allow", "deny", "handback"]))
    def decide(self, data: st.DataObject, said: Decided) -> None:
        waiting = [
            c for c in self.calls.of_session("claude", "one") if c.decided is None and c.waited
        ]
        if waiting:
            call = data.draw(st.sampled_from(waiting))
            call.decided = said
            self.requests += 1
            call.carried = CarriedDecision(f"request {self.requests}", SayAllow())

    @rule(command=INPUTS, id=IDS)
    def runs(self, command: str, id: str | None) -> None:
        event = post(shell(command, id))
        tool = event.tool
        assert tool is not None
        before = self.equal(tool.input_hash)
        by_id = [c for c in self.calls.of_session("claude", "one") if id and ("", id) in c.ids]
        call = self.calls.end(event, tool)
        if by_id:
            assert call is by_id[0]
        free = [c for c in before if id is None or not c.ids]
        if not by_id and any(each.decided == "allow" for each in free):
            assert call is not None
            assert call.decided == "allow", "a denied one ran only if no allowed one can have"
        if call is not None:
            assert all(call is not each for each in self.ended), "a call ends once"
            assert call.over
            self.ended.append(call)

    @rule()
    def turn_ends(self) -> None:
        for call in self.calls.of_session("claude", "one"):
            self.calls.drop(call)
            self.ended.append(call)

    @invariant()
    def open_and_ended_are_apart(self) -> None:
        for call in self.calls.of_session("claude", "one"):
            assert not call.over
            assert all(call is not each for each in self.ended)


TestLanes = Lanes.TestCase
TestLanes.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
