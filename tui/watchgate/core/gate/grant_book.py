"""All standing grants in force: an operator's allow that also answers calls to come.

An exact grant answers the same call again (agent, session, sub-agent, tool, input, folder). A wide
one, and every one for good, answers whatever its rules cover in its folder, but only what the
policy found when it was given, or calls ordinary work. None ever answers a denial, or anything of
high, critical or unknown risk.

- The test whether a grant that is held to rules answers a call.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.gate import record_builders
from watchgate.core.gate.effects import Effect, Emit
from watchgate.core.gate.grant_rules import (
    MOVES,
    PolicyFindings,
    grant_candidate,
    grantable,
    proposed,
    rule_fits,
    uncovered,
)
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.actor import Actor
from watchgate.core.model.assessment import NO_RULE, Assessment
from watchgate.core.model.events import Event, Tool
from watchgate.core.model.records import Draft, RequestData
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.standing_grant import (
    UNUSED_US,
    Grant,
    GrantOverData,
    GrantUsedData,
    GrantView,
    stay_inside,
    width_of,
)
from watchgate.core.tools.tool_input import subject_digest


def grant_answers(
    view: GrantView, agent: str, folder: str, tool: Tool, assessed: PolicyFindings
) -> bool:
    """Returns whether a grant may answer a call and covers every command that no allow rule covers.

    It may answer the findings that were shown when it was given, and what the policy calls ordinary
    work; one of an earlier version, without a width, also what no rule speaks of.

    Args:
        view: the grant.
        agent: the agent that calls.
        folder: the folder of the session that calls.
        tool: the tool call.
        assessed: the policy's findings about it.
    """
    owner = (agent, folder, tool.native_name)
    if owner != (view.agent, view.folder, view.tool) or not view.folder or grantable(assessed):
        return False
    shown = {*view.answers} if view.width else {*view.answers, NO_RULE}
    asked = [each for each in assessed.findings if each.decision != "allow"]
    if any(each.rule not in shown and each.effect != "ordinary" for each in asked):
        return False
    try:
        commands = [words for _, words in uncovered(tool, assessed)]
    except ValueError:
        return False
    moves = [words for words in commands if words[:1] in MOVES]
    if len(moves) != len(set(moves)):
        return False  # `cd ..` twice is not where `cd ..` is
    if view.width == "folder":
        return not moves and stay_inside(word for words in commands for word in words)
    if view.width:
        return all(any(rule_fits(rule, words) for rule in view.rules) for words in commands)
    return all(any(rule.covers(words) for rule in view.rules) for words in commands)


def asked_by_policy(data: RequestData) -> bool:
    """Returns whether nothing but the policy's own findings wants the call asked."""
    return not data.raised and data.rule in {each.rule for each in data.findings}


_MINUTES_15_S = 15 * 60
_EXACT = ("once", "turn", "session", "15m")
_PREFIX_MIN = 4


class Grants:
    """The standing grants of one core."""

    def __init__(self) -> None:
        self._exact: dict[str, Grant] = {}
        self._wide: dict[str, Grant] = {}

    def scopes(self, tool: Tool, assessment: Assessment, *, asked_by: str = "") -> tuple[str, ...]:
        """Returns the scopes that an allow may have.

        `asked_by` names what else than the policy wants the call asked. With `always` among the
        scopes the others may be wide, too.
        """
        if assessment.decision == "deny" or grantable(assessment):
            return ("once",)
        return (*_EXACT, "always") if not asked_by and _has_rules(tool, assessment) else _EXACT

    def covering(
        self, event: Event, tool: Tool, assessment: Assessment, now: Instant, *, asked_by: str = ""
    ) -> Grant | None:
        """Returns the grant that answers this call now; None without one.

        Args:
            event: the event of the call.
            tool: the tool call as it would run.
            assessment: the policy's assessment of it.
            now: the current time.
            asked_by: what else than the policy wants the call asked; then a grant has to be exact.
        """
        if assessment.decision == "deny" or grantable(assessment):
            return None
        exact = self._exact.get(subject_digest(event, tool))
        if exact is not None and _holds(exact, event, now):
            return exact
        if asked_by:
            return None
        for grant in self._wide.values():
            if _holds(grant, event, now) and grant_answers(
                grant.view, event.agent, event.cwd, tool, assessment
            ):
                return grant
        return None

    def releases(self, grant: Grant, request: ApprovalRequest, now: Instant) -> bool:
        """Returns whether the grant answers a request that waits."""
        event, data = request.subject, request.data
        if grantable(data) or data.asks != "approval" or not _holds(grant, event, now):
            return False
        if not grant.wide:
            return grant.digest == data.digest and grant.view.scope in data.scopes
        asked = asked_by_policy(data) and not request.rewritten
        return asked and grant_answers(grant.view, event.agent, data.cwd, data.tool, data)

    def used(self, grant: Grant, request: ApprovalRequest, now: Instant) -> list[Effect]:
        """Notes that the grant has answered a request."""
        grant.used(now.wall_us)
        view = grant.view
        data = GrantUsedData(
            grant=view.id, hits=view.hits, used_at=view.used_at, until_at=view.until_at
        )
        return [record_builders.about(request, "grant.used", data, now)]

    def give(self, request: ApprovalRequest, now: Instant) -> tuple[Grant, list[Effect]]:
        """Puts a grant in force as a request was decided; one for the same call is replaced."""
        event, data, ending = request.subject, request.data, request.ending
        until_s = now.mono_s + _MINUTES_15_S if ending.scope == "15m" else None
        until_at = now.plus(_MINUTES_15_S).wall_us if until_s is not None else 0
        if ending.scope == "always":
            until_at = now.wall_us + UNUSED_US
        width = width_of(ending.scope, ending.width)
        view = grant_candidate(request, ending.rules, scope=ending.scope, width=width)
        view = msgspec.structs.replace(view, by=ending.by, given_at=now.wall_us, until_at=until_at)
        grant = Grant(view=view, digest=data.digest, turn=event.turn, until_s=until_s)
        effects: list[Effect] = []
        if grant.wide:
            self._wide[grant.id] = grant
        else:
            former = self._exact.pop(data.digest, None)
            effects += [] if former is None else [_over(former, "another took its place", now)]
            self._exact[data.digest] = grant
        return grant, [*effects, record_builders.about(request, "grant.given", view, now)]

    def expire(self, now: Instant) -> list[Effect]:
        """Ends the grants whose time is up."""
        over = [each for each in self._every() if _is_late(each, now)]
        late = [each for each in over if not each.always]
        unused = [each for each in over if each.always]
        return [
            *self._end(late, "its 15 minutes are over", now),
            *self._end(unused, "it was not used for 30 days", now),
        ]

    def next_deadline(self) -> float | None:
        """Returns the monotonic time at which `expire` has to be called next."""
        due = (each.until_s for each in self._every() if each.until_s is not None)
        return min(due, default=None)

    def end_turn(self, agent: str, session: str, now: Instant) -> list[Effect]:
        """Ends the grants for the turn that ended."""
        over = [each for each in self._of(agent, session) if each.view.scope == "turn"]
        return self._end(over, "its turn is over", now)

    def end_session(self, agent: str, session: str, now: Instant) -> list[Effect]:
        """Ends every grant of a session that ended."""
        return self._end(self._of(agent, session), "its session is over", now)

    def revoke(
        self, prefix: str, by: str, now: Instant, actor: Actor | None = None
    ) -> tuple[GrantView, list[Effect]]:
        """Takes a grant back; raises `Refused` unless exactly one has this id or prefix."""
        every = {each.id: each for each in self._every()}
        hits = [each for each in every.values() if each.id.startswith(prefix)]
        if prefix in every:
            hits = [every[prefix]]
        if len(prefix) < _PREFIX_MIN or len(hits) != 1:
            ambiguous = f"{prefix} fits {len(hits)} grants; type more of it"
            none = f"no grant {prefix}; see watchgate grants"
            raise Refused("unknown_id", ambiguous if len(hits) > 1 else none)
        self._drop(hits[0])
        data = GrantOverData(grant=hits[0].id, why="it was taken back", by=by, actor=actor)
        return hits[0].view, [_about_core("grant.revoked", data, now)]

    def restore(self, views: Iterable[GrantView], now: Instant) -> list[Effect]:
        """Puts grants for good in force again, as they were stored; ends what is too old.

        None lasts longer than 30 days from now, whatever the clock was when it was stored.
        """
        effects: list[Effect] = []
        latest = now.wall_us + UNUSED_US
        for each in views:
            has_rules = bool(each.rules) or each.width == "folder"
            if each.scope == "always" and has_rules and each.until_at:
                view = msgspec.structs.replace(each, until_at=min(each.until_at, latest))
                self._wide[view.id] = Grant(view=view)
                effects.append(_about_core("grant.kept", view, now))
        return effects + self.expire(now)

    def permanent(self) -> tuple[GrantView, ...]:
        """Returns the grants for good, oldest first: those that outlive this core."""
        return tuple(each.view for each in self._wide.values() if each.always)

    def _every(self) -> list[Grant]:
        return [*self._exact.values(), *self._wide.values()]

    def _of(self, agent: str, session: str) -> list[Grant]:
        owner = (agent, session)
        given = [each for each in self._every() if not each.always]
        return [each for each in given if (each.view.agent, each.view.session) == owner]

    def _end(self, over: list[Grant], why: str, now: Instant) -> list[Effect]:
        for grant in over:
            self._drop(grant)
        return [_over(grant, why, now) for grant in over]

    def _drop(self, grant: Grant) -> None:
        if grant.wide:
            del self._wide[grant.id]
        else:
            del self._exact[grant.digest]


def _holds(grant: Grant, event: Event, now: Instant) -> bool:
    """Returns whether a grant is in force for the session, and the turn, of this event."""
    if _is_late(grant, now):
        return False
    view = grant.view
    if not grant.always and (view.agent, view.session) != (event.agent, event.session):
        return False
    return grant.view.scope != "turn" or grant.turn == event.turn


def _is_late(grant: Grant, now: Instant) -> bool:
    if grant.until_s is not None:
        return now.mono_s >= grant.until_s
    return bool(grant.view.until_at) and now.wall_us >= grant.view.until_at


def _has_rules(tool: Tool, assessment: Assessment) -> bool:
    try:
        return bool(proposed(tool, assessment))
    except ValueError:
        return False


def _over(grant: Grant, why: str, now: Instant) -> Emit:
    return _about_core("grant.expired", GrantOverData(grant=grant.id, why=why), now)


def _about_core(kind: str, data: GrantView | GrantOverData, now: Instant) -> Emit:
    # Of no session: its session may be long gone, and nothing happened in it.
    return Emit(Draft(kind=kind, at=now.wall_us, data=data))
