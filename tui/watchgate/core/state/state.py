"""The one fold from records to what a screen shows.

A core, a console and a replay all hold a `State` and feed it the same records; nothing on a screen
comes from anywhere else. Applying a record never fails: what it does not know it passes over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.bounded import Ring
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import BudgetData, Record, is_session_event
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.usage_records import CountedData
from watchgate.core.model.views import GateView, PendingView, Settled, Totals
from watchgate.core.state import request_folds
from watchgate.core.state.call_rows import (
    RAN,
    ROW_CHARS,
    CallRows,
    asks_itself,
    call_key,
    end_by_result,
    end_by_word,
    end_contradicted,
    end_refused,
    end_ungated,
)
from watchgate.core.state.gate_folds import GATE_FOLDS, GrantsInForce, gate_at_start, is_off
from watchgate.core.state.hosts import HostView, common_gate, host_among
from watchgate.core.state.session_views import Key, SessionViews, session_key
from watchgate.core.state.traces import Traces, ended_by, hidden_by, shown_by
from watchgate.core.usage.budget import KIND as BUDGET
from watchgate.core.usage.budget import Budgets, apply_budget
from watchgate.core.usage.usage_fold import UsageFold

MAX_ROWS = 100_000
MAX_SETTLED = 50
DAY_US = 86_400 * 1_000_000
NO_DEADLINE = 2**63

_UNASKED = {"handback": "no_opinion", "recorded": "no_opinion"}
_ENDS = ("tool.post", "tool.error")


class State:
    """Sessions, calls, open requests and totals after the newest record (`seq`).

    `budgets` are those that were recorded; it is one object for good, which the gate reads.

    `skipped` counts records whose data could not be read: purged ones, or of a later version.
    """

    def __init__(self, *, max_rows: int = MAX_ROWS) -> None:
        self.core = ""
        self.seq = 0
        self.at = 0
        self.gate = GateView()
        self.hosts: dict[str, HostView] = {}
        self.session_views = SessionViews(hosts=self.hosts)
        self.pending: dict[str, PendingView] = {}
        self.calls = CallRows(max_rows)
        self.traces = Traces()
        self.granted = GrantsInForce()
        self.totals = Totals()
        self.usage = UsageFold()
        self.budgets: Budgets = {}
        self.settled: deque[Settled] = deque(maxlen=MAX_SETTLED)
        self.skipped = 0

    def apply(self, record: Record) -> None:
        """Folds one record in; records at or below `seq` change nothing."""
        if record.seq and record.seq <= self.seq:
            return
        if record.at // DAY_US > self.at // DAY_US:
            self.totals = Totals()
        self.seq, self.core = record.seq, record.core
        self.at = max(self.at, record.at)  # an event's record may be older than the one before
        self.usage.note_running(record.at)
        fold = _FOLDS.get(record.kind)
        try:
            if is_session_event(record):
                ended = self._ended(record) if record.kind in _ENDS else (0, 0)
                self.session_views.touch(record, *ended)
            if fold is not None:
                fold(self, record)
        except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError):
            self.skipped += 1

    def host_of(self, session: str) -> str:
        """The machine of a session; empty where there is a single core."""
        return host_among(self.hosts, session)

    def set_hosts(self, hosts: Iterable[HostView], at: int) -> None:
        """Replaces the watched hosts and the gate state that they share (`at`: UTC µs)."""
        named = {host.name: host for host in hosts}
        self.hosts.clear()
        self.hosts.update(named)  # the sessions look into the same ones
        self.gate = common_gate(self.hosts.values(), at)
        self.drop_lost_requests()

    def drop_lost_requests(self) -> None:
        """Drops the open requests of lost hosts: none of them can be answered from here."""
        for view in list(self.pending.values()):
            host = self.hosts.get(self.host_of(view.session))
            if host is not None and not host.here:
                del self.pending[view.id]
                self.session_views.ask((view.agent, view.session), -1)
                self.calls.edit((view.agent, view.session, view.call), stage="host lost")

    def session(self, agent: str | None, session: str | None) -> SessionView | None:
        """Returns the session of that agent, if any event of it was recorded."""
        return self.sessions.get((agent or "", session or ""))

    def by_deadline(self) -> list[PendingView]:
        """Returns the open requests, the one that ends soonest first."""
        return sorted(
            self.pending.values(), key=lambda p: (p.data.deadline_at or NO_DEADLINE, p.at)
        )

    @property
    def sessions(self) -> dict[Key, SessionView]:
        """The sessions by agent and id."""
        return self.session_views.views

    @property
    def grants(self) -> dict[str, GrantView]:
        """The grants in force by their ids, oldest first."""
        return self.granted.views

    @property
    def rows(self) -> Ring[CallRow]:
        """The newest calls."""
        return self.calls.ring

    @property
    def last(self) -> Settled | None:
        """The newest settled request."""
        return self.settled[-1] if self.settled else None

    def _ended(self, record: Record) -> tuple[int, int]:
        """Returns the numbers of calls newly run, and newly gated: streams repeat results."""
        row = self.calls.get(call_key(record))
        if row is None:
            return 1, 0
        return (0, 0) if row.alarm or row.stage in RAN else (1, int(row.gated))

    def _add_row(self, record: Record, risk: str, *, watched: bool, gated: bool = False) -> None:
        """Shows a call; one that is only `watched` may be hidden with the rest of its turn."""
        view = self.session_views.views[session_key(record)]
        sub = record.data.get("sub")
        row = CallRow(
            at=record.at,
            agent=view.agent,
            session=view.session,
            call=record.call or "",
            label=view.label,
            tool=str(record.data["tool"]["name"]),
            risk=str(risk),
            glyph="",
            stage="running",
            summary=record.data["summary"][:ROW_CHARS],
            hidden_by=view.hidden_by if watched else "",
            sub=record.sub or "",
            sub_type=str(sub["type"]) if sub else "",
            gated=gated,
            lane=self.calls.shared(str(record.data.get("lane", ""))),
            rule=self.calls.shared(str(record.data.get("rule", ""))),
            seq=record.seq,
        )
        self.calls.add(row)
        self.session_views.called(record)

    def count(self, name: str, by: int = 1) -> None:
        """Adds to today's total of that name; nothing where the name is empty."""
        if name:
            total = max(0, getattr(self.totals, name) + by)
            self.totals = msgspec.structs.replace(self.totals, **{name: total})

    def _call(self, record: Record) -> None:
        data = record.data
        word = data.get("word") or "denied-by-rule"
        gated = data["lane"] in ("gate", "gate-read")
        row = self.calls.get(call_key(record))
        if row is not None:
            if gated and not row.gated:
                self.calls.edit(call_key(record), gated=True)
        else:
            watched = data["lane"] == "observe"
            risk = data.get("risk", "unknown")
            self._add_row(record, risk, watched=watched, gated=gated)
            counter = _UNASKED.get(data["gate"], "")
            self.count(ENDINGS[word].counter if data["gate"] == "denied" else counter)
        if data["gate"] == "denied":
            end_by_word(self.calls, record, word)
        elif asks_itself(record, row):
            self.calls.edit(call_key(record), freed_at=0)
            self.session_views.asks_there(session_key(record), record.call or "")
        self.session_views.note_gate(record, gated=gated)

    def _result(self, record: Record) -> None:
        key = call_key(record)
        if self.calls.get(key) is None:
            self._add_row(record, "unknown", watched=True)
        row = self.calls.get(key)
        if row is not None:
            host = self.hosts.get(self.host_of(record.session or ""))
            gate = host.gate if host is not None else self.gate
            end_by_result(self.calls, row, record, off=is_off(gate, record.at))

    def _contradicted(self, record: Record) -> None:
        self.count("alarms")
        end_contradicted(self.calls, record)

    def _refused(self, record: Record) -> None:
        end_refused(self.calls, record)

    def _ungated(self, record: Record) -> None:
        alarm = record.data.get("alarm", True) is True
        if alarm and record.data.get("count", 1) == 1:
            self.count("alarms")
        if end_ungated(self.calls, record, alarm=alarm):
            self.session_views.passed_by(record)

    def _used(self, record: Record) -> None:
        self.session_views.used(record)
        view = self.session_views.views[session_key(record)]
        self.usage.used(record, label=view.label, model=view.model or "")

    def _counted(self, record: Record) -> None:
        """Takes in usage from files, which makes no session known: nobody may watch that one."""
        view = self.session(record.agent, record.session)
        data = decoding.convert(record.data, CountedData)
        host = self.hosts.get(self.host_of(record.session or ""))
        if host is None or host.local:  # of several machines, one says which days these are
            self.usage.set_utc_offset(data.utc_offset_s)
        self.usage.counted(record, data, label=view.label if view is not None else "")

    def _noted(self, record: Record) -> None:
        if record.data.get("asks_there") is True:
            self.session_views.asks_there(session_key(record), "")

    def _budget(self, record: Record) -> None:
        apply_budget(self.budgets, decoding.convert(record.data, BudgetData), session_key(record))

    def _session_started(self, record: Record) -> None:
        start_kind = str(record.data.get("detail", "")).partition(" ")[0]
        # After a compaction the same process goes on, and counts on.
        if record.sub is None and start_kind != "compact":
            self.usage.started(session_key(record), resumed=start_kind == "resume")

    def _sub_over(self, record: Record) -> None:
        if record.sub is not None:
            self.calls.end_turn(record.agent or "", record.session or "", record.sub)

    def _turn_over(self, record: Record) -> None:
        if record.sub is not None:
            self._sub_over(record)
            return
        self.calls.end_turn(record.agent or "", record.session or "")
        self.session_views.turn_over(record)

    def _trace(self, record: Record) -> None:
        view = self.session(record.agent, record.session)
        trace = self.traces.add(record, view.label if view else "")
        hidden = hidden_by(trace.data)
        if hidden:
            self.calls.edit(call_key(record), hidden_by=hidden)
        writer = shown_by(trace.data)
        if writer:
            self.calls.edit(call_key(record), shown=trace.data.shown, shown_by=writer)
        # An answer that comes after its turn must not hide the next one.
        if view is not None and record.at > view.turn_over_at and (by := ended_by(trace.data)):
            self.session_views.edit(session_key(record), hidden_by=by)

    def _started(self, record: Record) -> None:
        """Closes all that an earlier core left open: a new one knows nothing of it (AP-15)."""
        self.gate = gate_at_start(record)
        if not self.hosts:
            self.usage.set_utc_offset(record.data.get("utc_offset_s"))
        for view in self.pending.values():
            call = (view.agent, view.session, view.call)
            self.calls.edit(call, glyph="-", stage="no core", ended_at=record.at)
        self.pending.clear()
        self.granted = GrantsInForce()
        self.calls.forget_nameless()
        self.traces.forget_nameless(record.seq)
        self.session_views.start_over()


Fold = Callable[[State, Record], None]


def _of_session(fold: Callable[[SessionViews, Record], None]) -> Fold:
    """Wraps a fold of a session's records that needs nothing but the sessions."""
    return lambda state, record: fold(state.session_views, record)


def _of_grant(fold: Callable[[GrantsInForce, Record], None]) -> Fold:
    """Wraps a fold of a grant's records that needs nothing but the grants."""
    return lambda state, record: fold(state.granted, record)


def _of_gate(fold: Callable[[GateView, Record], GateView]) -> Fold:
    """Wraps a fold of the records about the gate itself."""

    def folded(state: State, record: Record) -> None:
        state.gate = fold(state.gate, record)

    return folded


_FOLDS: dict[str, Fold] = {
    "tool.pre": State._call,
    "tool.permission": State._call,
    "tool.post": State._result,
    "tool.error": State._result,
    "turn.end": State._turn_over,
    "turn.error": State._turn_over,
    "turn.interrupt": State._turn_over,
    "session.end": State._turn_over,
    "session.start": State._session_started,
    "notice": State._noted,
    "usage": State._used,
    "usage.counted": State._counted,
    BUDGET: State._budget,
    "hook.trace": State._trace,
    "approval.requested": request_folds.requested,
    "approval.facts": request_folds.facts,
    "approval.extended": request_folds.extended,
    "approval.escalated": request_folds.escalated,
    "approval.decided": request_folds.decided,
    "effect.undelivered": request_folds.undelivered,
    "effect.contradicted": State._contradicted,
    "effect.refused": State._refused,
    "effect.ungated": State._ungated,
    "policy.ungated": _of_session(SessionViews.not_gated),
    "policy.inferred": _of_session(SessionViews.inferred),
    "policy.paused": _of_session(SessionViews.paused),
    "agent.stop": State._sub_over,
    "grant.given": _of_grant(GrantsInForce.given),
    "grant.kept": _of_grant(GrantsInForce.given),
    "grant.used": _of_grant(GrantsInForce.used),
    "grant.revoked": _of_grant(GrantsInForce.over),
    "grant.expired": _of_grant(GrantsInForce.over),
    "policy.started": State._started,
    **{kind: _of_gate(fold) for kind, fold in GATE_FOLDS.items()},
}
