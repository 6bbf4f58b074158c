"""The parts of several hosts as one picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import merge

from watchgate.core.budget import Budgets
from watchgate.core.hosts import common_gate
from watchgate.core.state import DAY_US, SETTLED_KEPT
from watchgate.core.traces import TRACES_KEPT, TraceView
from watchgate.core.usage.fold import UsageKept
from watchgate.core.usage.session import LimitsTold
from watchgate.core.views import CallRow, Settled, Totals
from watchgate.ui.fleet.host import Host
from watchgate.ui.source import Merged

LEVELS = ("free", "warned", "used-up")


def picture(hosts: Sequence[Host], seq: int, now_us: int) -> Merged:
    """Returns what all hosts have told, after the record `seq` of the common numbering.

    Calls, traces and ends are in the order of their times; the rest is in the order of the hosts.
    """
    states = [host.state for host in hosts]
    views = tuple(host.view for host in hosts)
    return Merged(
        seq=seq,
        core=" ".join(state.core for state in states if state.core),
        now=now_us,
        gate=common_gate(views, now_us),
        sessions=tuple(view for state in states for view in state.sessions.values()),
        pending=tuple(view for state in states for view in state.pending.values()),
        grants=tuple(view for state in states for view in state.grants.values()),
        totals=_totals(state.totals for state in states if state.at // DAY_US >= now_us // DAY_US),
        usage=usage_of_all([state.usage.snapshot() for state in states]),
        budgets=_budgets(state.budgets for state in states),
        settled=tuple(merge(*(state.settled for state in states), key=_at))[-SETTLED_KEPT:],
        rows=tuple(merge(*(state.rows for state in states), key=_at)),
        traces=tuple(merge(*(state.traces.ring for state in states), key=_at))[-TRACES_KEPT:],
        hosts=views,
    )


def _at(each: CallRow | Settled | TraceView) -> int:
    return each.at


def _totals(every: Iterable[Totals]) -> Totals:
    sums = dict.fromkeys(Totals.__struct_fields__, 0)
    since = 0
    for totals in every:
        since = max(since, totals.since)
        for name in sums:
            sums[name] += getattr(totals, name)
    return Totals(**sums | {"since": since})


def _budgets(every: Iterable[Budgets]) -> Budgets:
    """All of them; of several days' budgets the one that is nearest to its end."""
    all_budgets: Budgets = {}
    for budgets in every:
        for key, each in budgets.items():
            known = all_budgets.get(key)
            if known is None or LEVELS.index(each.level) > LEVELS.index(known.level):
                all_budgets[key] = each
    return all_budgets


def usage_of_all(every: Sequence[UsageKept]) -> UsageKept:
    """Sessions and calls are named by their host; days and accounts are of all of them together."""
    limits: dict[str, LimitsTold] = {}
    for usage in every:
        for agent, report in usage.limits.items():
            if agent not in limits or report.at > limits[agent].at:
                limits[agent] = report
    return UsageKept(
        sessions=tuple(each for usage in every for each in usage.sessions),
        spent=tuple(each for usage in every for each in usage.spent),
        ran=tuple(sorted({day for usage in every for day in usage.ran})),
        recent=tuple(each for usage in every for each in usage.recent),
        begun=tuple(key for usage in every for key in usage.begun),
        tools=tuple(each for usage in every for each in usage.tools),
        limits=limits,
        utc_offset_s=every[0].utc_offset_s if every else 0,
        prices=next((usage.prices for usage in every if usage.prices), ""),
    )
