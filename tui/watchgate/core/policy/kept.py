"""Cache of the newest assessments: agents ask for the same call on two lanes, and again.

An assessment depends on nothing but the call, the policy and, where a rule ends at a time, that
time. So an equal call under the same policy has the same one until the next such moment.
"""

from __future__ import annotations

import msgspec

from watchgate.core.policy.assess import assess
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.subject import Fetched, Links, Subject
from watchgate.core.recent import Recent

KEPT = 500
MAX_INPUT_BYTES = 2_000
_MOST_AHEAD = 8
_Pids = frozenset[int] | None
_Key = tuple[str, str, str, bytes, str, str, str, Links, frozenset[str], Fetched, _Pids]
_encode = msgspec.json.Encoder(order="sorted").encode


class Kept:
    """Cache of the newest assessments, each of one call under one policy."""

    def __init__(self) -> None:
        self._assessments: Recent[_Key, tuple[Policy, Assessment]] = Recent(KEPT)
        self._ahead: Recent[str, tuple[Subject, Policy, Assessment]] = Recent(_MOST_AHEAD)

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
