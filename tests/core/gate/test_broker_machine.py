"""Any interleaving of everything that can happen to requests, on an engine with a fake clock."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core.builders import (
    BELOW,
    ONLY_DENIES,
    SAYS_ALL,
    other,
    permission,
    post,
    pre,
    shell,
    sub,
)
from tests.core.machine_model import Watch
from tests.core.state.test_state import picture, replayed
from tests.core.world import World
from watchgate.core.gate.grant_rules import why_no_grant
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Can, Kind, Lane, Tool, ToolCall
from watchgate.core.model.standing_grant import WIDTHS, Width

TOOLS: st.SearchStrategy[Tool] = st.builds(
    shell,
    command=st.sampled_from(
        ["high x"] * 3
        + ["medium x"] * 3
        + ["medium x y", "medium x /srv", "medium y"]
        + ["low x", "deny x"]
    ),
    call_id=st.sampled_from([None, "a", "a", "b"]),
)
WHERE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "session": st.sampled_from(["one", "one", "one", "two"]),
        "sub": st.sampled_from([None, None, None, sub()]),
        "cwd": st.sampled_from(["/home/u/app", "/home/u/app", "/home/u/app", "/"]),
    }
)
TURNS_OVER: st.SearchStrategy[Kind] = st.sampled_from(
    ["turn.end", "prompt.submit", "agent.stop", "session.end", "notice"]
)
CLIENTS_WAIT_S = st.sampled_from([None, 3660, 60, 3])
LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "proof": st.just(BELOW),
        "shown_ms": st.sampled_from([0, 600]),
        "confirmed": st.just(False),
    },
)


class Approvals(RuleBasedStateMachine):
    @initialize(
        profile=st.sampled_from(["guard", "strict"]),
        unattended=st.sampled_from(["hold", "hold", "deny"]),
        consoles=st.sampled_from([1, 1, 0]),
    )
    def begin(self, profile: Any, unattended: str, consoles: int) -> None:
        self.world = World(profile, consoles=consoles, unattended=unattended)
        self.watch = Watch(self.world)

    @rule(
        lane=st.sampled_from([Lane.GATE, Lane.GATE, Lane.GATE_READ]),
        tool=TOOLS,
        where=WHERE,
        can=st.sampled_from([SAYS_ALL, ONLY_DENIES]),
        deadline_s=CLIENTS_WAIT_S,
    )
    def ask_gate(
        self, lane: Lane, tool: Tool, where: Any, can: Can, deadline_s: float | None
    ) -> None:
        self.watch.ask(pre(tool, lane, can, deadline_s=deadline_s, **where))

    @rule(tool=TOOLS, where=WHERE, races=st.booleans(), deadline_s=CLIENTS_WAIT_S)
    def ask_relay(self, tool: Tool, where: Any, races: bool, deadline_s: float | None) -> None:
        self.watch.ask(permission(tool, races=races, deadline_s=deadline_s, **where))

    @precondition(lambda self: self.watch.conns)
    @rule(back=st.integers(1, 3), relay=st.booleans(), with_id=st.booleans())
    def ask_again(self, back: int, relay: bool, with_id: bool) -> None:
        """The same call once more, over another connection or on its other lane."""
        event = list(self.watch.conns.values())[-back:][0]
        body = event.body
        assert isinstance(body, ToolCall)
        tool = body.tool if with_id else msgspec.structs.replace(body.tool, call_id=None)
        where: dict[str, Any] = {"session": event.session, "sub": event.sub, "cwd": event.cwd}
        self.watch.ask(permission(tool, **where) if relay else pre(tool, **where))

    @precondition(lambda self: self.world.pending)
    @rule(
        data=st.data(),
        decision=st.sampled_from(["allow", "allow", "allow", "deny", "handback"]),
        disk=st.sampled_from([True, True, True, False, None]),
    )
    def decide(
        self,
        data: st.DataObject,
        decision: Literal["allow", "deny", "handback"],
        disk: bool | None,
    ) -> None:
        """An operator who does everything right, if not always in time; the disk may follow."""
        request = self.world.broker.open[data.draw(st.sampled_from(sorted(self.world.pending)))]
        scopes = st.sampled_from(request.data.scopes if decision == "allow" else ("once",))
        scope = data.draw(scopes)
        wide = scope != "once" and "always" in request.data.scopes
        offered = [each for each in WIDTHS if wide and not why_no_grant(request.data, each)]
        width = data.draw(st.sampled_from([None, *offered]))
        self.watch.decide(request, decision, digest=request.data.digest, scope=scope, width=width)
        if disk is not None and request.id in self.world.commits:
            self.world.commits.remove(request.id)
            self.watch.commit(request.id, disk)

    @precondition(lambda self: self.watch.known())
    @rule(
        data=st.data(),
        decision=st.sampled_from(["allow", "allow", "deny", "handback"]),
        digest=st.sampled_from([None, "0" * 64, "right"]),
        scope=st.sampled_from(["once", "session"]),
        width=st.sampled_from([None, *WIDTHS]),
        limits=LIMITS,
    )
    def misdecide(
        self,
        data: st.DataObject,
        decision: Literal["allow", "deny", "handback"],
        digest: str | None,
        scope: str,
        width: Width | None,
        limits: dict[str, Any],
    ) -> None:
        """An operator who may get anything wrong, on any request there ever was."""
        request = data.draw(st.sampled_from(self.watch.known()))
        digest = request.data.digest if digest == "right" else digest
        terms: dict[str, Any] = {"scope": scope, "width": width}
        self.watch.decide(request, decision, digest=digest, **terms, **limits)

    @precondition(lambda self: self.watch.known())
    @rule(
        data=st.data(),
        command=st.sampled_from(["low y", "high y", "critical y", "deny y", "high x"]),
        digest=st.sampled_from([None, "0" * 64, "right", "right", "right"]),
        limits=LIMITS,
    )
    def edit(
        self, data: st.DataObject, command: str, digest: str | None, limits: dict[str, Any]
    ) -> None:
        """An operator has another command run instead, of any request there ever was."""
        request = data.draw(st.sampled_from(self.watch.known()))
        digest = request.data.digest if digest == "right" else digest
        self.watch.edit(request, {"command": command}, digest=digest, **limits)

    @precondition(lambda self: self.world.commits)
    @rule(data=st.data(), ok=st.sampled_from([True, True, True, False]))
    def disk(self, data: st.DataObject, ok: bool) -> None:
        at = data.draw(st.integers(0, len(self.world.commits) - 1))
        self.watch.commit(self.world.commits.pop(at), ok)

    @precondition(lambda self: self.watch.conns)
    @rule(data=st.data())
    def hang_up(self, data: st.DataObject) -> None:
        self.watch.hang_up(data.draw(st.sampled_from(sorted(self.watch.conns))))

    @rule(data=st.data(), what=st.sampled_from("time time result event consoles journal".split()))
    def meanwhile(self, data: st.DataObject, what: str) -> None:
        """Time passes, noticed or not; the agent goes on; consoles and the journal come and go."""
        world = self.world
        if what == "time":
            world.now = world.now.plus(data.draw(st.sampled_from([0.5, 0.5, 5, 60, 301, 86_400])))
            if data.draw(st.booleans()):
                world.advance(0)
        elif what == "result":
            world.send(post(data.draw(TOOLS), ok=data.draw(st.booleans()), **data.draw(WHERE)))
        elif what == "event":
            world.send(other(data.draw(TURNS_OVER), **data.draw(WHERE)))
        elif what == "consoles":
            world.engine.status.last_key_s = world.now.mono_s
            world.do(world.engine.console_count(data.draw(st.integers(0, 2)), world.now))
        else:
            world.engine.status.journal_lost = data.draw(st.sampled_from(["", "full"]))
            if world.engine.status.journal_lost:
                world.do(world.engine.close_all("denied-no-journal", "full", world.now))

    @precondition(lambda self: self.watch.known())
    @rule(data=st.data(), seconds=st.sampled_from([1, 600]), told=st.booleans())
    def extend_or_report(self, data: st.DataObject, seconds: float, told: bool) -> None:
        """Somebody gives more time; or an answer was, or could not be, delivered."""
        request = data.draw(st.sampled_from(self.watch.known()))
        if not request.open:
            self.world.do(self.world.engine.sent(request.id, told, self.world.now))
            return
        try:
            self.world.broker.extend(request.id, seconds, self.world.now)
        except Refused:
            return
        self.world.do(self.world.engine.extended(request, "ann", self.world.now))

    @invariant()
    def everything_holds(self) -> None:
        if hasattr(self, "watch"):
            self.watch.check()

    def teardown(self) -> None:
        if not hasattr(self, "watch"):
            return
        world = self.world
        world.do(world.engine.close_all("denied-core-stopped", "bye", world.now))
        for request in list(world.commits):
            self.watch.commit(request, ok=True)
        self.watch.check()
        assert self.watch.waiting() == set()
        assert world.broker.open == {}
        assert world.broker.next_deadline() is None
        assert picture(replayed(world.records)) == picture(world.state)


TestApprovals = Approvals.TestCase
TestApprovals.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
