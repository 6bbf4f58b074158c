"""The test whether a grant that is held to rules answers a call."""

from __future__ import annotations

from watchgate.core.events import Tool
from watchgate.core.grants.grant import GrantView
from watchgate.core.grants.proposal import MOVES, Judged, fits, grantable, uncovered
from watchgate.core.grants.width import stay_inside
from watchgate.core.policy.assessment import NO_RULE
from watchgate.core.records import RequestData


def answers(view: GrantView, agent: str, folder: str, tool: Tool, assessed: Judged) -> bool:
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
        return all(any(fits(rule, words) for rule in view.rules) for words in commands)
    return all(any(rule.covers(words) for rule in view.rules) for words in commands)


def asked_by_policy(data: RequestData) -> bool:
    """Returns whether nothing but the policy's own findings wants the call asked."""
    return not data.raised and data.rule in {each.rule for each in data.findings}
