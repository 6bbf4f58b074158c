"""A state from a snapshot: a console's first picture, without the records before it."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.grants.folded import FoldedGrants
from watchgate.core.grants.grant import GrantView
from watchgate.core.session_views import SessionViews
from watchgate.core.state import ROWS_KEPT, State
from watchgate.core.traces import Traces, TraceView
from watchgate.core.views import (
    CallRow,
    GateView,
    LastDecision,
    PendingView,
    SessionView,
    Totals,
)


def restore(  # noqa: PLR0913 - the parts of a snapshot
    *,
    seq: int,
    core: str,
    at: int,
    gate: GateView,
    sessions: Iterable[SessionView] = (),
    pending: Iterable[PendingView] = (),
    grants: Iterable[GrantView] = (),
    totals: Totals | None = None,
    last: LastDecision | None = None,
    rows: Iterable[CallRow] = (),
    traces: Iterable[TraceView] = (),
    rows_kept: int = ROWS_KEPT,
) -> State:
    """The state after record `seq`; records that follow it can be applied to it.

    `at` is the snapshot's own time (UTC µs): totals belong to that day. `rows` and
    `traces` are the newest ones, oldest first.
    """
    state = State(rows_kept=rows_kept)
    state.core, state.seq, state.at, state.gate = core, seq, at, gate
    state.seen = SessionViews(sessions)
    state.pending = {view.id: view for view in pending}
    state.granted = FoldedGrants(grants)
    state.totals = totals if totals is not None else Totals()
    state.last = last
    state.traces = Traces(traces)
    for row in rows:
        state.calls.add(row)
    return state
