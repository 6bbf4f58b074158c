"""The policy gate: the last handler of every call, which makes a verdict of an assessment.

- Cache of the newest assessments: agents ask for the same call on two lanes, and again. An
  assessment depends on nothing but the call, the policy and, where a rule ends at a time, that
  time. So an equal call under the same policy has the same one until the next such moment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.gate.raised_risk import ExfiltrationDetector
from watchgate.core.gate.retries import RetryDetector
from watchgate.core.model.assessment import Assessment, Finding, judge
from watchgate.core.model.events import Event, Lane, Tool
from watchgate.core.model.verdicts import Allow, Block, Confirm, Defer, Failed, Verdict
from watchgate.core.policy.inputs.subject import Fetched, Links, Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.judging.fetched_files import FetchedFiles
from watchgate.core.policy.judging.written_files import ChangedFiles
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import GateAction, Profile, gate_action
from watchgate.core.usage.budget import RULE as BUDGET
from watchgate.core.usage.budget import Budgets, ask_reason

ASSESSMENTS_MAX = 500
MAX_INPUT_BYTES = 2_000
_MAX_AHEAD = 8
_Pids = frozenset[int] | None
_Key = tuple[str, str, str, bytes, str, str, str, Links, frozenset[str], Fetched, _Pids]
_encode = msgspec.json.Encoder(order="sorted").encode


class AssessmentCache:
    """Cache of the newest assessments, each of one call under one policy."""

    def __init__(self) -> None:
        self._assessments: Recent[_Key, tuple[Policy, Assessment]] = Recent(ASSESSMENTS_MAX)
        self._ahead: Recent[str, tuple[Subject, Policy, Assessment]] = Recent(_MAX_AHEAD)

    def judge_ahead(self, subject: Subject, policy: Policy, now_us: int) -> Assessment | None:
        """Assesses a call that will be asked about soon; in any thread."""
        if policy.ends:
            return None
        assessment = assess(subject, policy, now_us)
        self._ahead[subject.tool.input_hash] = subject, policy, assessment
        return assessment

    def assess(self, subject: Subject, policy: Policy, now_us: int) -> Assessment:
        """Returns the cached assessment, or a new one; never cached under rules that end."""
        if policy.ends:
            return assess(subject, policy, now_us)
        ahead = self._ahead.pop(subject.tool.input_hash, None)
        # Whatever has changed since, it is judged anew.
        if ahead is not None and ahead[:2] == (subject, policy):
            return ahead[2]
        key = _key(subject)
        if key is None:
            return assess(subject, policy, now_us)
        known = self._assessments.get(key)
        if known is not None and known[0] is policy:
            return known[1]
        assessment = assess(subject, policy, now_us)
        self._assessments.renew(key, (policy, assessment))
        return assessment


def _key(subject: Subject) -> _Key | None:
    """Returns all of a call that a rule can look at; None for a large one, which is not cached.

    The home and our own files are the same for all calls.
    """
    tool = subject.tool
    if any(isinstance(each, str) and len(each) > MAX_INPUT_BYTES for each in tool.input.values()):
        return None
    try:
        given = _encode(tool.input)
    except ValueError:
        return None
    if len(given) > MAX_INPUT_BYTES:
        return None
    return (
        tool.name,
        tool.native_name,
        tool.cls,
        given,
        subject.agent,
        subject.session,
        subject.cwd,
        subject.links,
        subject.changed,
        subject.fetched,
        subject.own_pids,
    )


_QUESTION = judge([Finding("question", "the agent asks a person", "low")])
_PLAN = judge([Finding("plan", "the agent wants its plan approved", "low")])


class PolicyGate:
    """Judges calls by the profile and the policy in force where they run.

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
        """Creates the gate for one profile.

        Args:
            profile: The profile in force.
            policies: Gives the policy for calls in a folder.
            home: The user's home folder.
            own: Our own files and folders, which no call may change.
            links: Finds the symbolic links that a call in a folder names.
            auto_allow: Whether the allow of a rule is given to the agent as one.
            timer: Counts seconds; with one, `took_ms` is how long the newest assessment took.
            budgets: The state of budgets, looked at anew for every call.
        """
        self.profile: Profile = profile
        self.retries = RetryDetector()
        self.flow = ExfiltrationDetector()
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
        self._cache = AssessmentCache()
        self._last: tuple[Event, Assessment] | None = None

    def assess(self, event: Event) -> Assessment | None:
        """Assesses the event's call; None when it has none."""
        if self._last is not None and self._last[0] is event:
            return self._last[1]
        tool = event.tool
        if tool is None:
            return None
        if event.kind == "question":
            return _PLAN if tool.cls == "plan" else _QUESTION
        began_s = self._timer() if self._timer is not None else 0.0
        subject = self._subject(event, tool)
        assessment = self._cache.assess(subject, self._policies(event.cwd), event.at.wall_us)
        self.changed.note(subject)
        self.fetched.note(subject)
        raised = self.retries.raised(event, assessment)
        if raised is assessment:
            raised = self.flow.raised(event, assessment)
        assessment = self.budgeted(event, raised)
        if self._timer is not None:
            self.took_ms = round((self._timer() - began_s) * 1000, 3)
        self._last = (event, assessment)
        return assessment

    def ahead(self, event: Event) -> Callable[[], Assessment | None]:
        """Returns a function that judges a call before it is asked about, in any thread."""
        if event.tool is None or event.kind not in ("tool.pre", "tool.permission"):
            return _nothing
        subject, policy = self._subject(event, event.tool), self._policies(event.cwd)
        return partial(self._cache.judge_ahead, subject, policy, event.at.wall_us)

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
        """Blocks the call, asks an operator, allows it where that is configured, or defers.

        What an agent asks a person is put to one in every profile: there is nothing to judge.
        """
        assessment = self.assess(event)
        if assessment is None:
            return Failed("malformed", "no tool call to judge")
        if event.kind == "question":
            return Confirm(assessment.reason)
        action = self._action(event, assessment)
        if action == "deny":
            return Block(assessment.decisive.reason)
        if assessment.findings[0].rule == BUDGET:
            return Confirm(assessment.findings[0].reason)
        if action == "allow" and event.can.allow:
            return Allow(assessment.reason)
        # Where the agent itself would ask, somebody is asked, though another would be content.
        asks = event.lane is Lane.RELAY or event.kind == "tool.permission"
        asks = asks and not event.asks_every_call
        if action == "hold" or (action in ("allow", "handback") and asks):
            return Confirm(assessment.reason)
        return Defer(assessment.reason)

    def over_budget(self, event: Event) -> str:
        """Returns the budget's reason to ask about a call that the policy allows; or ""."""
        return ask_reason(self.budgets, event.agent, event.session)

    def _action(self, event: Event, assessment: Assessment) -> GateAction:
        return gate_action(
            self.profile,
            assessment,
            autonomous=event.autonomous,
            runs_unasked=event.runs_unasked,
            auto_allow=self._auto_allow,
        )

    def budgeted(self, event: Event, assessment: Assessment) -> Assessment:
        """Returns the assessment, made an ask where a call would run unasked over a budget.

        Its risk stays what it is, and so does whatever a grant says of it.
        """
        if not event.lane.waits:
            return assessment
        action = self._action(event, assessment)
        allowed = action == "allow" and event.can.allow
        runs = action in ("allow", "handback") and event.runs_unasked
        if not (allowed or runs) or not (why := self.over_budget(event)):
            return assessment
        # Among findings an allow is what no grant has to answer.
        over = Finding(BUDGET, why, assessment.risk, decision="allow")
        return msgspec.structs.replace(
            assessment, decision="ask", findings=(over, *assessment.findings)
        )


def _nothing() -> None:
    """Returns None: there is nothing to judge ahead."""
    return
