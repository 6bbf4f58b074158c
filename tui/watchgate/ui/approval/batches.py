"""The calls that an agent made together: those of one session that began at about the same time."""

from __future__ import annotations

from watchgate.core.model.views import CallRow, PendingView
from watchgate.core.state.state import State

TOGETHER_US = 1_000_000
LOOKED_AT = 64
"""How many calls before and after one are looked at: those of other sessions lie between them."""


def same_batch(state: State, view: PendingView) -> tuple[CallRow, ...]:
    """The other calls of the request's session that began within a second of it, oldest first.

    Those of another sub-agent are not among them.
    """
    rows, number = state.rows, state.calls.number((view.agent, view.session, view.call))
    if number is None:
        return ()
    own = rows[number]
    near = range(max(rows.first, number - LOOKED_AT), min(rows.end, number + LOOKED_AT + 1))
    return tuple(
        row
        for row in (rows[each] for each in near if each != number)
        if (row.agent, row.session, row.sub) == (own.agent, own.session, own.sub)
        and abs(row.at - own.at) <= TOGETHER_US
    )
