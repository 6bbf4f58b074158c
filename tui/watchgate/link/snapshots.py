"""A state as a snapshot, and back: the first picture of whoever looks at a core or a recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from watchgate.core.state.hosts import HostView
from watchgate.core.state.restore import restore
from watchgate.core.state.state import MAX_ROWS, State
from watchgate.link.protocol import Snapshot

SNAPSHOT_ROWS = 2_000
SNAPSHOT_TRACES = 500


def snapshot(
    state: State,
    *,
    core: str,
    now_us: int,
    rows: int = SNAPSHOT_ROWS,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> Snapshot:
    """Returns everything that a console needs for its first picture.

    Args:
        state: The state to picture.
        core: The id of the core that it is from.
        now_us: The time of the picture (UTC µs).
        rows: The number of calls to show at most, the newest ones.
        titles: The agents' names for people, by the agent's id.
    """
    return Snapshot(
        seq=state.seq,
        core=core,
        now=now_us,
        gate=state.gate,
        sessions=tuple(state.sessions.values()),
        pending=tuple(state.pending.values()),
        grants=tuple(state.grants.values()),
        totals=state.totals,
        usage=state.usage.snapshot(),
        budgets=dict(state.budgets),
        settled=tuple(state.settled),
        rows=tuple(state.rows.tail(rows)),
        traces=tuple(state.traces.ring.tail(SNAPSHOT_TRACES)),
        titles=dict(titles),
    )


def restored(taken: Snapshot, hosts: Iterable[HostView] = (), *, max_rows: int = MAX_ROWS) -> State:
    """The state that a snapshot was taken of; the records after it can be applied to it."""
    return restore(
        seq=taken.seq,
        core=taken.core,
        at=taken.now,
        gate=taken.gate,
        sessions=taken.sessions,
        pending=taken.pending,
        grants=taken.grants,
        totals=taken.totals,
        usage=taken.usage,
        budgets=taken.budgets,
        settled=taken.settled,
        rows=taken.rows,
        traces=taken.traces,
        hosts=hosts,
        max_rows=max_rows,
    )
