from __future__ import annotations

from typing import get_args

import pytest

from watchgate.core.model.events import Kind
from watchgate.core.model.sessions import SessionState, after, shown

S = SessionState


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("session.start", S.IDLE),
        ("prompt.submit", S.WORKING),
        ("tool.pre", S.WORKING),
        ("tool.error", S.WORKING),
        ("turn.end", S.IDLE),
        ("turn.interrupt", S.IDLE),
        ("turn.error", S.FAILED),
        ("session.end", S.GONE),
    ],
)
def test_an_event_tells_what_the_agent_does(kind: Kind, state: SessionState) -> None:
    assert after(S.UNKNOWN, kind) is state


@pytest.mark.parametrize("kind", ["notice", "usage", "unknown", "agent.stop", "session.change"])
def test_an_event_that_tells_nothing_changes_nothing(kind: Kind) -> None:
    for state in S:
        assert after(state, kind) is state


@pytest.mark.parametrize("kind", get_args(Kind))
def test_no_event_alone_makes_a_session_wait(kind: Kind) -> None:
    assert after(S.UNKNOWN, kind) is not S.WAITING


def test_an_open_question_outranks_all_but_the_end() -> None:
    for state in S:
        assert shown(state, pending=1) is (S.GONE if state is S.GONE else S.WAITING)
        assert shown(state, pending=0) is state
