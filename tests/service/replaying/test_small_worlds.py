"""Whatever happens to a core: its recording, decided again, has no differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.core.builders import (
    ONLY_DENIES,
    SAYS_ALL,
    batch,
    other,
    permission,
    post,
    pre,
    resolved,
    shell,
    sub,
)
from tests.service.replaying.recorded import RecordedWorld
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PRESETS
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Can, Lane, Tool
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
)

CALLS = frozenset({"tool.pre", "tool.permission"})
HANDLERS = (
    Handler(id="guard", on=CALLS, timeout_s=3),
    Handler(id="open", on=frozenset({"tool.pre"}), timeout_s=3, on_failure="open"),
    Handler(id="log", on=CALLS | {"tool.post", "prompt.submit"}, role="observer", timeout_s=30),
)
TOOLS: st.SearchStrategy[Tool] = st.builds(
    shell,
    command=st.sampled_from(["high x", "medium x", "medium x", "low x", "deny x", "allow x"]),
    call_id=st.sampled_from([None, "a", "a", "b"]),
)
WHERE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "session": st.sampled_from(["one", "one", "one", "two"]),
        "sub": st.sampled_from([None, None, None, sub()]),
        "turn": st.sampled_from([None, "t1"]),
    }
)
WAITS_S = st.sampled_from([None, 3660.0, 60.0])
GATE = st.tuples(
    st.just("gate"),
    TOOLS,
    WHERE,
    st.sampled_from([Lane.GATE, Lane.GATE, Lane.GATE_READ, Lane.OBSERVE]),
    st.sampled_from([SAYS_ALL, SAYS_ALL, ONLY_DENIES]),
    WAITS_S,
)
RELAY = st.tuples(st.just("relay"), TOOLS, WHERE, st.booleans(), WAITS_S)
ENDS = st.tuples(
    st.sampled_from(["post", "batch", "resolved", "turn.end", "prompt.submit", "session.end"]),
    TOOLS,
    WHERE,
)
DECIDE = st.tuples(
    st.just("decide"),
    st.integers(0, 3),
    st.sampled_from(["allow", "allow", "deny", "handback", "edit"]),
    st.sampled_from(["once", "once", "turn", "session", "15m"]),
    st.sampled_from([True, True, True, False, None]),
)
OTHER = st.one_of(
    st.tuples(st.just("hang up"), st.integers(0, 5)),
    st.tuples(st.just("time"), st.sampled_from([0.5, 5.0, 61.0, 301.0])),
    st.tuples(st.just("commit")),
    st.tuples(st.just("extend"), st.integers(0, 3)),
    st.tuples(st.just("stop"), st.sampled_from(["denied-core-stopped", "denied-no-journal"])),
)
SAYS = st.tuples(
    st.just("says"),
    st.integers(0, 3),
    st.sampled_from(
        [
            Defer(),
            Defer(),
            Defer(),
            Allow("fine"),
            Block("no"),
            Confirm("sure?"),
            Modify({"command": "low rewritten"}),
            Modify(None),
            Inject("hint"),
            Abort("enough"),
            Failed("crash", "it fell"),
        ]
    ),
)


class Story:
    """Carries out what a strategy drew, as far as it can happen at all."""

    def __init__(self, world: RecordedWorld) -> None:
        self.world = world
        self.conns = 0

    def tell(self, what: str, *more: Any) -> None:
        """One thing happens."""
        acts: dict[str, Callable[..., Any]] = {
            "gate": self._gate,
            "relay": self._relay,
            "post": lambda tool, where: self.world.send(post(tool, **where)),
            "batch": lambda tool, where: self.world.send(batch(tool, **where)),
            "resolved": lambda tool, where: self.world.send(resolved(tool, **where)),
            "decide": self._decide,
            "says": self._say,
            "hang up": self._hang_up,
            "time": self._pass,
            "commit": self.world.commit,
            "extend": self._extend,
            "stop": self._stop,
        }
        if what in acts:
            acts[what](*more)
        else:
            self.world.send(other(what, **more[1]))  # type: ignore[arg-type]

    def _gate(self, tool: Tool, where: Any, lane: Lane, can: Can, deadline_s: Any) -> None:
        if lane is Lane.OBSERVE:
            self._ask(pre(tool, lane, **where), False)
        else:
            self._ask(pre(tool, lane, can, deadline_s=deadline_s, **where), True)

    def _relay(self, tool: Tool, where: Any, races: bool, deadline_s: Any) -> None:
        self._ask(permission(tool, races=races, deadline_s=deadline_s, **where), True)

    def _hang_up(self, back: int) -> None:
        if self.conns - back not in self.world.replies:
            self.world.hang_up(self.conns - back)

    def _stop(self, word: Any) -> None:
        self.world.do(self.world.engine.close_all(word, "it was so", self.world.now))

    def _ask(self, asked: Any, waits: bool) -> None:
        self.conns += 1
        self.world.send(asked, self.conns if waits else 0)

    def _decide(self, at: int, decision: Any, scope: str, disk: bool | None) -> None:
        pending = sorted(self.world.pending)
        if not pending:
            return
        request = self.world.broker.open[pending[at % len(pending)]]
        try:
            if decision == "edit":
                self.world.edit(request, {"command": "low edited"})
            else:
                scope = scope if decision == "allow" and scope in request.data.scopes else "once"
                self.world.decide(request, decision, scope=scope)
        except Refused:
            return
        event(f"decided {decision}")
        if disk is not None:
            self.world.commit(ok=disk)

    def _say(self, at: int, verdict: Any) -> None:
        engine = self.world.engine
        asked = [
            a for a in self.world.asked if a.invoke.handler.id in engine.awaited(a.dispatch_id)
        ]
        if asked:
            ask = asked[at % len(asked)]
            report = Report(verdict=verdict)
            now = self.world.now
            self.world.do(engine.on_report(ask.dispatch_id, ask.invoke.handler.id, report, now))

    def _pass(self, seconds: float) -> None:
        """Time passes; a core notices each deadline when it is there."""
        world = self.world
        until_s = world.now.mono_s + seconds
        while (due_s := world.engine.next_deadline()) is not None and due_s <= until_s:
            world.advance(max(due_s - world.now.mono_s, 0.0))
        world.advance(max(until_s - world.now.mono_s, 0.0))

    def _extend(self, at: int) -> None:
        world = self.world
        pending = sorted(world.pending)
        if not pending:
            return
        try:
            request = world.broker.extend(pending[at % len(pending)], 30, world.now)
        except Refused:
            return
        world.do(world.engine.extended(request, "ann", world.now))


@given(
    story=st.lists(st.one_of(GATE, GATE, RELAY, ENDS, DECIDE, DECIDE, OTHER), max_size=25),
    profile=st.sampled_from(["guard", "strict", "watch"]),
    auto_allow=st.booleans(),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_without_handlers(story: list[Any], profile: Any, auto_allow: bool) -> None:
    world = RecordedWorld(profile, auto_allow=auto_allow)
    teller = Story(world)
    for each in story:
        teller.tell(*each)
    again = world.again()
    assert again.differences == ()
    assert again.left_out == {}


@given(
    story=st.lists(st.one_of(GATE, RELAY, ENDS, DECIDE, SAYS, SAYS, SAYS, OTHER), max_size=25),
    preset=st.sampled_from(["console", "console", *sorted(PRESETS)]),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_with_handlers(story: list[Any], preset: Any) -> None:
    world = RecordedWorld(handlers=HANDLERS, preset=preset)
    teller = Story(world)
    for each in story:
        teller.tell(*each)
    teller.tell("time", 61.0)  # a call whose handlers are heard yet is in no recording
    assert world.again().differences == ()
