"""The policy as the last handler of every call: assessment and profile become one verdict."""

from __future__ import annotations

from collections.abc import Callable

from watchgate.core.events import Event, Lane
from watchgate.core.policy.assessment import Assessment, Finding, judge
from watchgate.core.policy.builtin import assess
from watchgate.core.policy.profiles import Profile, gate_action
from watchgate.core.verdicts import Block, Confirm, Defer, Failed, Verdict

_QUESTION = judge([Finding("question", "the agent asks a person", "low")])
_PLAN = judge([Finding("plan", "the agent wants its plan approved", "low")])


class PolicyGate:
    """Judges calls by the built-in rules and the profile in force."""

    def __init__(
        self,
        profile: Profile,
        *,
        home: str,
        protected: tuple[str, ...],
        timer: Callable[[], float] | None = None,
    ) -> None:
        """`timer` counts seconds; with one, `took_ms` is how long the newest assessment took."""
        self.profile: Profile = profile
        self.took_ms: float | None = None
        self._timer = timer
        self._home = home
        self._protected = protected
        self._last: tuple[Event, Assessment] | None = None

    def assess(self, event: Event) -> Assessment | None:
        """What the rules say about the event's call; None when it has none."""
        if self._last is not None and self._last[0] is event:
            return self._last[1]
        tool = event.tool
        if tool is None:
            return None
        if event.kind == "question":
            return _PLAN if tool.cls == "plan" else _QUESTION
        began_s = self._timer() if self._timer is not None else 0.0
        found = assess(tool, cwd=event.cwd, home=self._home, protected=self._protected)
        if self._timer is not None:
            self.took_ms = round((self._timer() - began_s) * 1000, 3)
        self._last = (event, found)
        return found

    def __call__(self, event: Event) -> Verdict:
        """Block, ask an operator, or have no opinion; never an allow.

        What an agent asks a person is put to one in every profile: there is nothing to judge.
        """
        found = self.assess(event)
        if found is None:
            return Failed("malformed", "no tool call to judge")
        if event.kind == "question":
            return Confirm(found.reason)
        action = gate_action(self.profile, found, autonomous=event.autonomous)
        if action == "deny":
            return Block(found.reason)
        # Where the agent itself would ask, somebody is asked, though another would be content.
        asks = event.lane is Lane.RELAY or event.kind == "tool.permission"
        asks = asks and not event.asks_every_call
        if action == "hold" or (action == "handback" and asks):
            return Confirm(found.reason)
        return Defer(found.reason)
