"""A state from a snapshot: a console's first picture, without the records before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import BudgetData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.views import GateView, PendingView, Settled, Totals
from watchgate.core.state.gate_folds import GrantsInForce
from watchgate.core.state.hosts import HostView
from watchgate.core.state.session_views import SessionViews
from watchgate.core.state.state import MAX_ROWS, State
from watchgate.core.state.traces import Traces, TraceView
from watchgate.core.usage.usage_fold import UsageFold, UsageSnapshot


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
    usage: UsageSnapshot | None = None,
    settled: Iterable[Settled] = (),
    rows: Iterable[CallRow] = (),
    traces: Iterable[TraceView] = (),
    hosts: Iterable[HostView] = (),
    budgets: Mapping[str, BudgetData] | None = None,
    max_rows: int = MAX_ROWS,
) -> State:
    """Builds the state after record `seq`; records that follow it can be applied to it.

    Args:
        seq: The number of the last record that the snapshot holds.
        core: The id of the core that made it.
        at: The snapshot's own time (UTC µs); totals belong to that day.
        gate: The gate, as on all machines that answer.
        sessions: The known sessions.
        pending: The open requests.
        grants: The grants in force.
        totals: Today's counters; None: all are 0.
        usage: Usage and cost of the sessions; None: nothing is known.
        settled: The newest settled requests, oldest first.
        rows: The newest calls, oldest first.
        traces: The newest hook traces, oldest first.
        hosts: The watched cores, where there are several.
        budgets: The budgets by their keys.
        max_rows: The most rows that the state holds.
    """
    state = State(max_rows=max_rows)
    state.core, state.seq, state.at, state.gate = core, seq, at, gate
    state.hosts.update((host.name, host) for host in hosts)
    state.session_views = SessionViews(sessions, hosts=state.hosts)
    state.pending = {view.id: view for view in pending}
    state.granted = GrantsInForce(grants)
    state.totals = totals if totals is not None else Totals()
    state.usage = UsageFold(usage)
    state.budgets.update(budgets or {})
    state.settled.extend(settled)
    state.traces = Traces(traces)
    for row in rows:
        state.calls.add(row)
    return state
