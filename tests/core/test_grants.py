from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import START
from watchgate.core.grants import Grant, Grants, scopes_for


def grant(scope: str = "session", **fields: Any) -> Grant:
    facts = {"digest": "d", "session": "one", "turn": "t1", "request": "r", **fields}
    return Grant(agent="claude", scope=scope, by="ann", given=START, **facts)


def covers(grants: Grants, digest: str = "d", turn: str | None = "t1", after_s: float = 0) -> bool:
    return grants.covering(digest, turn, START.plus(after_s)) is not None


def test_a_grant_covers_its_digest_alone_and_counts_its_hits() -> None:
    grants = Grants()
    grants.add(grant())
    assert covers(grants)
    assert covers(grants, turn="t2")
    assert not covers(grants, "e")
    assert grants.all()[0].hits == 2


def test_a_turn_grant_covers_its_own_turn() -> None:
    grants = Grants()
    grants.add(grant("turn"))
    assert covers(grants)
    assert not covers(grants, turn="t2")
    assert not covers(grants, turn=None)


def test_a_timed_grant_ends_on_the_second() -> None:
    grants = Grants()
    grants.add(grant("15m"))
    assert covers(grants, after_s=899.9)
    assert not covers(grants, after_s=900)
    assert grants.all() == []


def test_what_was_granted_ends_with_what_it_was_granted_for() -> None:
    grants = Grants()
    for number, scope in enumerate(("turn", "session", "15m")):
        grants.add(grant(scope, digest=scope))
        grants.add(grant(scope, digest=f"other {number}", session="two"))
    grants.end_turn("claude", "one")
    assert not covers(grants, "turn")
    assert covers(grants, "session")
    grants.end_session("claude", "one")
    assert not covers(grants, "session")
    assert not covers(grants, "15m")
    assert len(grants.all()) == 3


def test_a_later_grant_for_the_same_subject_replaces_the_earlier() -> None:
    grants = Grants()
    grants.add(grant("turn"))
    grants.add(grant("session", request="r2"))
    assert [each.request for each in grants.all()] == ["r2"]


@pytest.mark.parametrize("risk", ["high", "critical", "unknown", "of a later version"])
def test_only_what_is_understood_and_not_grave_can_be_granted(risk: str) -> None:
    assert scopes_for(risk) == ("once",)
    assert scopes_for("medium") == scopes_for("low") == ("once", "turn", "session", "15m")
