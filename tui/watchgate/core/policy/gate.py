"""The policy as the last handler of every call: assessment and profile become one verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from watchgate.core.budget import RULE as BUDGET
from watchgate.core.budget import Budgets, asked_because
from watchgate.core.events import Event, Lane, Tool
from watchgate.core.flow import Flow
from watchgate.core.policy.assessment import Assessment, Finding, judge
from watchgate.core.policy.changed import ChangedFiles
from watchgate.core.policy.fetched import FetchedFiles
from watchgate.core.policy.kept import Kept
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.profiles import GateAction, Profile, gate_action
from watchgate.core.policy.subject import Links, Subject
from watchgate.core.retries import Retries
from watchgate.core.verdicts import Allow, Block, Confirm, Defer, Failed, Verdict

_QUESTION = judge([Finding("question", "the agent asks a person", "low")])
_PLAN = judge([Finding("plan", "the agent wants its plan approved", "low")])


class PolicyGate:
    """Judges calls by the policy in force where they run, and the profile.

    `policies` gives the policy for a session's folder, which a project may have tightened.
    """

    def __init__(
        self,
        profile: Profile,
        policies: Callable[[str], Policy],
        *,
        home: str,
        own: tuple[str, ...],
        links: Callable[[Tool, str], Links] = lambda _tool, _cwd: (),
        auto_allow: bool = False,
        timer: Callable[[], float] | None = None,
        budgets: Budgets | None = None,
    ) -> None:
        """`links` finds the symbolic links that a call in a folder names.

        `timer` counts seconds; with one, `took_ms` is how long the newest assessment took.
        `budgets` is how budgets stand, looked at anew for every call.
        """
        self.profile: Profile = profile
        self.retries = Retries()
        self.flow = Flow()
        self.changed = ChangedFiles()
        self.fetched = FetchedFiles()
        self.took_ms: float | None = None
        self.budgets: Budgets = {} if budgets is None else budgets
        self._policies = policies
        self._auto_allow = auto_allow
        self._timer = timer
        self._home = home
        self._own = own
        self._links = links
        self.own_pids: Callable[[Tool], frozenset[int]] | None = None
        """Finds the numbers in a call that are processes of ours; None where nobody looks."""
        self._kept = Kept()
        self._last: tuple[Event, Assessment] | None = None

    def assess(self, event: Event) -> Assessment | None:
        """What the policy says about the event's call; None when it has none."""
        if self._last is not None and self._last[0] is event:
            return self._last[1]
        tool = event.tool
        if tool is None:
            return None
        if event.kind == "question":
            return _PLAN if tool.cls == "plan" else _QUESTION
        began_s = self._timer() if self._timer is not None else 0.0
        subject = self._subject(event, tool)
        found = self._kept.assess(subject, self._policies(event.cwd), event.at.wall_us)
        self.changed.note(subject)
        self.fetched.note(subject)
        raised = self.retries.raised(event, found)
        if raised is found:
            raised = self.flow.raised(event, found)
        found = self.budgeted(event, raised)
        if self._timer is not None:
            self.took_ms = round((self._timer() - began_s) * 1000, 3)
        self._last = (event, found)
        return found

    def ahead(self, event: Event) -> Callable[[], Assessment | None]:
        """Return what judges a large call before it is asked about; to be called in any thread."""
        if event.tool is None or event.kind not in ("tool.pre", "tool.permission"):
            return _nothing
        subject, policy = self._subject(event, event.tool), self._policies(event.cwd)
        return partial(self._kept.judge_ahead, subject, policy, event.at.wall_us)

    def _subject(self, event: Event, tool: Tool) -> Subject:
        return Subject(
            tool=tool,
            agent=event.agent,
            session=event.session,
            cwd=event.cwd,
            home=self._home,
            own=self._own,
            # Of what is only watched, the disk need not be asked: nothing is decided by it.
            links=self._links(tool, event.cwd) if event.lane.waits else (),
            changed=self.changed.of(event.agent, event.session),
            fetched=self.fetched.of(event.agent, event.session),
            own_pids=None if self.own_pids is None else self.own_pids(tool),
        )

    def __call__(self, event: Event) -> Verdict:
        """Block, ask an operator, allow by a rule where that is configured, or have no opinion.

        What an agent asks a person is put to one in every profile: there is nothing to judge.
        """
        found = self.assess(event)
        if found is None:
            return Failed("malformed", "no tool call to judge")
        if event.kind == "question":
            return Confirm(found.reason)
        action = self._action(event, found)
        if action == "deny":
            return Block(found.decisive.reason)
        if found.findings[0].rule == BUDGET:
            return Confirm(found.findings[0].reason)
        if action == "allow" and event.can.allow:
            return Allow(found.reason)
        # Where the agent itself would ask, somebody is asked, though another would be content.
        asks = event.lane is Lane.RELAY or event.kind == "tool.permission"
        asks = asks and not event.asks_every_call
        if action == "hold" or (action in ("allow", "handback") and asks):
            return Confirm(found.reason)
        return Defer(found.reason)

    def over_budget(self, event: Event) -> str:
        """Why a call is to be asked though the policy would let it run; empty where it is not."""
        return asked_because(self.budgets, event.agent, event.session)

    def _action(self, event: Event, found: Assessment) -> GateAction:
        return gate_action(
            self.profile,
            found,
            autonomous=event.autonomous,
            runs_unasked=event.runs_unasked,
            auto_allow=self._auto_allow,
        )

    def budgeted(self, event: Event, found: Assessment) -> Assessment:
        """Over a budget, a call that would run without anybody being asked is put to somebody.

        Its risk stays what it is, and so does whatever a grant says of it.
        """
        if not event.lane.waits:
            return found
        action = self._action(event, found)
        allowed = action == "allow" and event.can.allow
        runs = action in ("allow", "handback") and event.runs_unasked
        if not (allowed or runs) or not (why := self.over_budget(event)):
            return found
        # Among findings an allow is what no grant has to answer.
        over = Finding(BUDGET, why, found.risk, decision="allow")
        return msgspec.structs.replace(found, decision="ask", findings=(over, *found.findings))


def _nothing() -> None:
    """Judge nothing."""
    return
