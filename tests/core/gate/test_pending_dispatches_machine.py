"""Any interleaving of calls, handlers, operators, clients that leave and time that passes."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core.builders import ONLY_DENIES, SAYS_ALL, other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PRESETS
from watchgate.core.gate.effects import RunHandler
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Can, Lane
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Report,
    SayAllow,
    Verdict,
)

CALLS = frozenset({"tool.pre", "tool.permission"})
HANDLERS = [
    Handler(id="guard", on=CALLS, timeout_s=3),
    Handler(id="open", on=frozenset({"tool.pre"}), timeout_s=3, on_failure="open"),
    Handler(id="log", on=CALLS | {"tool.post"}, role="observer", timeout_s=30),
]
VERDICTS: st.SearchStrategy[Verdict] = st.sampled_from(
    [
        Allow(),
        Defer(),
        Defer(),
        Block("no"),
        Confirm("sure?"),
        Modify({"command": "low rewritten"}),
        Modify({"command": "deny rewritten"}),
        Modify(None),
        Inject("hint"),
        Abort("enough"),
        Failed("crash"),
        Failed("timeout"),
    ]
)
TOOLS = st.builds(
    shell,
    command=st.sampled_from(["high x", "low x", "low x", "deny x"]),
    call_id=st.sampled_from([None, "a", "b"]),
)


class HearingsMachine(RuleBasedStateMachine):
    @initialize(
        preset=st.sampled_from(["console", "console", *sorted(PRESETS)]),
        consoles=st.sampled_from([1, 1, 0]),
        profile=st.sampled_from(["guard", "strict"]),
    )
    def begin(self, preset: Any, consoles: int, profile: Any) -> None:
        self.world = World(profile, consoles=consoles, handlers=HANDLERS, preset=preset)
        self.lanes: dict[int, Lane] = {}
        self.gone: set[int] = set()
        self.allowed: dict[str, Any] = {}

    def waiting(self) -> list[RunHandler]:
        open_dispatches = self.world.engine.awaited
        return [
            ask
            for ask in self.world.asked
            if ask.invoke.handler.id in open_dispatches(ask.dispatch_id)
        ]

    @rule(
        lane=st.sampled_from([Lane.GATE, Lane.GATE, Lane.GATE_READ, Lane.RELAY]),
        tool=TOOLS,
        can=st.sampled_from([SAYS_ALL, ONLY_DENIES]),
        deadline_s=st.sampled_from([3660.0, 60.0, 6.0, None]),
    )
    def ask(self, lane: Lane, tool: Any, can: Can, deadline_s: float | None) -> None:
        conn = len(self.lanes) + 1
        self.lanes[conn] = lane
        if lane is Lane.RELAY:
            self.world.send(permission(tool, deadline_s=deadline_s, can=can), conn)
        else:
            self.world.send(pre(tool, lane, can, deadline_s=deadline_s), conn)

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), verdict=VERDICTS)
    def says(self, data: st.DataObject, verdict: Verdict) -> None:
        ask = data.draw(st.sampled_from(self.waiting()))
        report = Report(verdict=verdict)
        handler = ask.invoke.handler.id
        self.world.do(self.world.engine.on_report(ask.dispatch_id, handler, report, self.world.now))

    @precondition(lambda self: self.world.asked)
    @rule(data=st.data(), verdict=VERDICTS)
    def says_late(self, data: st.DataObject, verdict: Verdict) -> None:
        """A handler that nobody waits for any more speaks up: nothing follows."""
        ask = data.draw(st.sampled_from(self.world.asked))
        if ask in self.waiting():
            return
        report, handler = Report(verdict=verdict), ask.invoke.handler.id
        assert not self.world.do(
            self.world.engine.on_report(ask.dispatch_id, handler, report, self.world.now)
        )

    @rule(call_id=st.sampled_from([None, "a", "c"]))
    def rewritten(self, call_id: str | None) -> None:
        """A call that a handler rewrites and no other minds."""
        before = len(self.world.asked)
        conn = len(self.lanes) + 1
        self.lanes[conn] = Lane.GATE
        self.world.send(pre(shell("low x", call_id)), conn)
        verdicts = iter([Modify({"command": "low rewritten"})])
        while asked := [ask for ask in self.waiting() if ask in self.world.asked[before:]]:
            handler = asked[0].invoke.handler.id
            verdict = Defer() if handler == "log" else next(verdicts, Defer())
            report = Report(verdict=verdict)
            self.world.do(
                self.world.engine.on_report(asked[0].dispatch_id, handler, report, self.world.now)
            )

    @precondition(lambda self: self.world.pending)
    @rule(data=st.data(), decision=st.sampled_from(["allow", "allow", "deny", "handback"]))
    def decide(self, data: st.DataObject, decision: Any) -> None:
        request = self.world.broker.open[data.draw(st.sampled_from(sorted(self.world.pending)))]
        try:
            self.world.decide(request, decision)
        except Refused:
            return
        if decision == "allow":
            self.allowed[request.id] = request.data.tool.input
            self.world.commit(ok=data.draw(st.sampled_from([True, True, False])))

    @precondition(lambda self: self.lanes)
    @rule(data=st.data())
    def hang_up(self, data: st.DataObject) -> None:
        conn = data.draw(st.sampled_from(sorted(self.lanes)))
        if conn not in self.world.replies:
            self.gone.add(conn)
            self.world.hang_up(conn)

    @rule(seconds=st.sampled_from([0.5, 2.0, 4.0, 40.0, 400.0]), seen=st.booleans())
    def time(self, seconds: float, seen: bool) -> None:
        self.world.now = self.world.now.plus(seconds)
        if seen:
            self.world.advance(0)

    @rule(tool=TOOLS, kind=st.sampled_from(["post", "turn.end", "session.end", "lost", "back"]))
    def meanwhile(self, tool: Any, kind: Any) -> None:
        world = self.world
        if kind == "post":
            world.send(post(tool))
        elif kind == "lost":
            world.engine.status.journal_lost = "full"
            world.do(world.engine.close_all("denied-no-journal", "full", world.now))
        elif kind == "back":
            world.engine.status.journal_lost = ""
        else:
            world.send(other(kind))

    @invariant()
    def nothing_is_allowed_that_nobody_allowed(self) -> None:
        if not hasattr(self, "world"):
            return
        for send in self.world.sends:
            if isinstance(send.reply, SayAllow):
                assert send.request in self.allowed
                shown = self.allowed[send.request]
                assert send.reply.input in (None, shown), "what was shown is what is told"

    @invariant()
    def everybody_is_answered_once_at_most(self) -> None:
        if hasattr(self, "world"):
            assert all(len(replies) == 1 for replies in self.world.replies.values())
            assert not self.gone & self.world.replies.keys()

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        world = self.world
        world.advance(1_000_000)
        world.commit()
        world.advance(1_000_000)
        assert self.waiting() == [], "no handler is awaited for ever"
        assert world.replies.keys() | self.gone == self.lanes.keys()
        assert world.engine.next_deadline() is None


TestHearings = HearingsMachine.TestCase
TestHearings.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
