"""One report out of asked-for calls: each counted once, whatever the order of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from watchgate.core.lookback.lookback_report import (
    RISKS,
    AgentCounts,
    GraveCall,
    HeldRates,
    LookbackReport,
    ProfileTally,
)
from watchgate.core.lookback.proposals import HeldCall, Proposal, Unasked, choose_proposals
from watchgate.core.lookback.transcript_call import Key, TranscriptCall
from watchgate.core.lookback.transcript_judge import (
    ASKS_A_PERSON,
    GRAVE,
    CallAssessment,
    TranscriptJudge,
)
from watchgate.core.policy.rules.profiles import GateAction, Profile

_HOUR_US = 3_600_000_000
DayOf = Callable[[int], int]
"""The local day (days since 1970) of a moment (UTC µs)."""


class _LookbackCall(msgspec.Struct, frozen=True, gc=False):
    """A call as it is counted; `asked` is it whole, where a rule of one's own could answer it."""

    rank: tuple[bool, int, str]
    at_us: int
    agent: str
    session: str
    cwd: str
    tool: str
    cls: str
    same: tuple[str, str, str, str]
    alone: bool
    assessment: CallAssessment
    asked: TranscriptCall | None = None


class Lookback:
    """Takes calls in and adds them up."""

    def __init__(
        self, judge: TranscriptJudge, *, since_us: int, now_us: int, day_of: DayOf
    ) -> None:
        """Starts without a call; `day_of` gives the local day of a moment."""
        self._judge = judge
        self._since_us = since_us
        self._now_us = now_us
        self._day_of = day_of
        self._calls: dict[Key, _LookbackCall] = {}
        self._questions: set[Key] = set()
        self._undated: set[Key] = set()

    @property
    def count(self) -> int:
        """The number of calls that were taken in so far."""
        return len(self._calls)

    def take(self, asked: Iterable[TranscriptCall]) -> None:
        """Takes calls in, in any order; copies of one call stay one."""
        for each in asked:
            key = each.key
            if not each.at_us and self._since_us:
                self._undated.add(key)
            elif each.at_us < self._since_us:
                self._early(key, each)
            elif each.tool.cls in ASKS_A_PERSON:
                self._questions.add(key)
            else:
                self._one(key, each)

    def report(self) -> LookbackReport:
        """Reports on all that was taken in so far."""
        calls = sorted(
            (call for call in self._calls.values() if call.at_us >= self._since_us),
            key=lambda call: (call.at_us, call.agent, call.session, call.same),
        )
        risks = Counter(call.assessment.risk for call in calls)
        return LookbackReport(
            since_us=self._since_us,
            now_us=self._now_us,
            calls=len(calls),
            commands=sum(call.cls == "shell" for call in calls),
            by_subs=sum(call.rank[0] for call in calls),
            alone=sum(call.alone for call in calls),
            distinct=len({call.same for call in calls}),
            sessions=len({(call.agent, call.session) for call in calls}),
            days=len({self._day_of(call.at_us) for call in calls}),
            questions=len(self._questions),
            undated=len(self._undated),
            risks={risk: risks[risk] for risk in RISKS},
            agents=_agents(calls),
            guard=_tally(calls, "guard"),
            strict=_tally(calls, "strict"),
            grave=_grave(calls),
            rates=_rates(calls),
            proposals=(*self._proposals(calls, "guard"), *self._proposals(calls, "strict")),
        )

    def _proposals(self, calls: list[_LookbackCall], profile: Unasked) -> tuple[Proposal, ...]:
        counts = Counter(call.same for call in calls)
        held: list[HeldCall] = []
        for call in {call.same: call for call in calls}.values():
            assessment, asked = call.assessment, call.asked
            needs = assessment.needs_alone if profile == "guard" else assessment.needs_strict
            if asked is not None and needs:
                again = partial(self._judge.holds_with, asked, profile)
                held.append(HeldCall(needs, counts[call.same], assessment.text, again))
        return choose_proposals(held, profile)

    def _one(self, key: Key, asked: TranscriptCall) -> None:
        known = self._calls.get(key)
        if known is None or asked.rank < known.rank:
            self._calls[key] = _call(asked, self._judge(asked))

    def _early(self, key: Key, asked: TranscriptCall) -> None:
        """Takes in an earlier call, which a fork may have copied with the time of the fork."""
        if asked.at_us:
            known = self._calls.get(key)
            if known is None or asked.rank < known.rank:
                self._calls[key] = _call(asked, _UNJUDGED)


_UNJUDGED = CallAssessment(
    risk="unknown",
    rule="",
    reason="",
    suggest="",
    guard="record",
    guard_alone="record",
    strict="record",
    grantable=False,
)


def _call(asked: TranscriptCall, assessment: CallAssessment) -> _LookbackCall:
    tool = asked.tool
    same = (asked.agent, tool.native_name, tool.input_hash, asked.cwd)
    return _LookbackCall(
        rank=asked.rank,
        at_us=asked.at_us,
        agent=asked.agent,
        session=asked.session,
        cwd=asked.cwd,
        tool=tool.name,
        cls=tool.cls,
        same=same,
        alone=asked.alone,
        assessment=assessment,
        asked=asked if assessment.needs_alone or assessment.needs_strict else None,
    )


def _rates(calls: list[_LookbackCall]) -> HeldRates:
    def held(actions: Iterable[GateAction]) -> int:
        return sum(action == "hold" for action in actions)

    return HeldRates(
        hours=len({call.at_us // _HOUR_US for call in calls}),
        guard=held(call.assessment.guard for call in calls),
        guard_alone=held(call.assessment.guard_alone for call in calls),
        strict=held(call.assessment.strict for call in calls),
    )


def _agents(calls: list[_LookbackCall]) -> tuple[AgentCounts, ...]:
    counts = Counter(call.agent for call in calls)
    sessions = Counter(agent for agent, _ in {(call.agent, call.session) for call in calls})
    agents = (AgentCounts(agent, count, sessions[agent]) for agent, count in counts.items())
    return tuple(sorted(agents, key=lambda each: (-each.calls, each.agent)))


def _tally(calls: list[_LookbackCall], profile: Profile) -> ProfileTally:
    """Counts what one profile would have done; the calls are in the order of their times."""
    held = grave = denied = again = granted = 0
    before: set[tuple[str, str, str, str]] = set()
    for call in calls:
        does = call.assessment.does(profile, alone=call.alone)
        denied += does == "deny"
        if does == "hold":
            held += 1
            grave += call.assessment.risk in GRAVE
            again += call.same in before
            granted += call.same in before and call.assessment.grantable
            before.add(call.same)
    return ProfileTally(held=held, grave=grave, denied=denied, again=again, granted=granted)


def _grave(calls: list[_LookbackCall]) -> tuple[GraveCall, ...]:
    """Returns each grave call once: the gravest first, then the newest."""
    grave: dict[tuple[str, str, str], GraveCall] = {}
    for call in calls:
        assessment = call.assessment
        if assessment.risk not in GRAVE:
            continue
        key = (assessment.risk, assessment.rule, assessment.text)
        known = grave.get(key)
        grave[key] = GraveCall(
            risk=assessment.risk,
            rule=assessment.rule,
            reason=assessment.reason,
            suggest=assessment.suggest,
            text=assessment.text,
            tool=call.tool,
            agent=call.agent,
            cwd=call.cwd,
            at_us=call.at_us,
            first_us=known.first_us if known else call.at_us,
            count=known.count + 1 if known else 1,
            guard=assessment.does("guard", alone=call.alone),
            strict=assessment.strict,
        )
    ranked = sorted(grave.values(), key=lambda each: (RISKS.index(each.risk), -each.at_us))
    return tuple(ranked)
