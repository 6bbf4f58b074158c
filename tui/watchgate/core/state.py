"""The one fold from records to what a screen shows.

A core, a console and a replay all hold a `State` and feed it the same records; nothing on a screen
comes from anywhere else. Applying a record never fails: what it does not know it passes over.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core.call_rows import CallRows, call_key
from watchgate.core.records import Record, RequestData
from watchgate.core.ring import Ring
from watchgate.core.session_views import Key, SessionViews, session_key
from watchgate.core.traces import Traces, ended_by, hidden_by, shown_by
from watchgate.core.views import (
    CallRow,
    GateView,
    LastDecision,
    PendingView,
    SessionView,
    Totals,
)

ROWS_KEPT = 100_000
ROW_CHARS = 8_192
DAY_US = 86_400 * 1_000_000
MINUTE_S = 60
NO_DEADLINE = 2**63

# word -> (glyph, stage of the call, counter in Totals)
ENDINGS: dict[str, tuple[str, str, str]] = {
    "allowed-by-operator": ("+", "running", "allowed_by_operator"),
    "allowed-by-grant": ("=", "running", "allowed_by_grant"),
    "denied-by-operator": ("x", "denied", "denied_by_operator"),
    "denied-by-rule": ("x", "denied", "denied_by_rule"),
    "denied-by-timeout": ("T", "timed out", "denied_by_timeout"),
    "denied-no-approver": ("x", "denied", "denied_other"),
    "denied-no-journal": ("x", "denied", "denied_other"),
    "denied-core-stopped": ("x", "denied", "denied_other"),
    "denied-failure": ("x", "denied", "denied_other"),
    "withdrawn": ("-", "withdrawn", ""),
    "answered-elsewhere": ("~", "running", ""),
    "handed-back": ("b", "handed back", "handed_back"),
    "handed-back-by-operator": ("b", "handed back", "handed_back"),
    "handed-back-by-timeout": ("b", "handed back", "handed_back"),
}


_ALLOWED = {"+": "allowed_by_operator", "=": "allowed_by_grant"}
_UNASKED = {"handback": "no_opinion", "recorded": "no_opinion"}
_RAN = ("done", "failed", "ran ungated")


class State:
    """Sessions, calls, open requests and totals after the newest record (`seq`).

    `skipped` counts records whose data could not be read: purged ones, or of a later version.
    """

    def __init__(self, *, rows_kept: int = ROWS_KEPT) -> None:
        self.core = ""
        self.seq = 0
        self.at = 0
        self.gate = GateView()
        self.seen = SessionViews()
        self.pending: dict[str, PendingView] = {}
        self.calls = CallRows(rows_kept)
        self.traces = Traces()
        self.totals = Totals()
        self.last: LastDecision | None = None
        self.skipped = 0

    def apply(self, record: Record) -> None:
        """Fold one record in; records at or below `seq` change nothing."""
        if record.seq and record.seq <= self.seq:
            return
        if record.at // DAY_US > self.at // DAY_US:
            self.totals = Totals()
        self.seq, self.core = record.seq, record.core
        self.at = max(self.at, record.at)  # an event's record may be older than the one before
        fold = _FOLDS.get(record.kind)
        try:
            if record.agent is not None and record.session is not None:
                self.seen.touch(record)
            if fold is not None:
                fold(self, record)
        except (AttributeError, KeyError, TypeError, msgspec.ValidationError):
            self.skipped += 1

    def session(self, agent: str | None, session: str | None) -> SessionView | None:
        """The session of that agent, if any event of it was seen."""
        return self.sessions.get((agent or "", session or ""))

    def by_deadline(self) -> list[PendingView]:
        """The open requests, the one that ends soonest first."""
        return sorted(
            self.pending.values(), key=lambda p: (p.data.deadline_at or NO_DEADLINE, p.at)
        )

    @property
    def sessions(self) -> dict[Key, SessionView]:
        """The sessions by agent and id."""
        return self.seen.views

    @property
    def rows(self) -> Ring[CallRow]:
        """The newest calls."""
        return self.calls.ring

    def _add_row(self, record: Record, risk: str, *, watched: bool) -> None:
        """Show a call; one that is only `watched` may be hidden with the rest of its turn."""
        view = self.seen.views[session_key(record)]
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
        )
        self.calls.add(row)
        recent = _counted(view.recent, record.at // 1_000_000)
        self.seen.edit(session_key(record), calls=view.calls + 1, recent=recent)

    def _count(self, name: str, by: int = 1) -> None:
        if name:
            total = max(0, getattr(self.totals, name) + by)
            self.totals = msgspec.structs.replace(self.totals, **{name: total})

    def _call(self, record: Record) -> None:
        data = record.data
        word = data.get("word") or "denied-by-rule"
        if self.calls.number(call_key(record)) is None:
            watched = data["lane"] == "observe"
            self._add_row(record, data.get("risk", "unknown"), watched=watched)
            counter = _UNASKED.get(data["gate"], "")
            self._count(ENDINGS[word][2] if data["gate"] == "denied" else counter)
        if data["gate"] == "denied":
            self._end_row(record, word)
        if data["lane"] in ("gate", "gate-read"):
            self.seen.edit(session_key(record), gated=True)
        elif self.seen.views[session_key(record)].gated is None:
            self.seen.edit(session_key(record), gated=False)

    def _result(self, record: Record) -> None:
        key, data = call_key(record), record.data
        if self.calls.number(key) is None:
            self._add_row(record, "unknown", watched=True)
        row = self.calls.get(key)
        if row is None:
            return
        stage = "done" if data["ok"] else "failed"
        if data.get("ungated"):
            stage = "ran ungated"
        took = data.get("took_ms")
        self.calls.edit(
            key,
            stage=row.stage if row.alarm else stage,
            ended_at=record.at,
            took_ms=took if took is not None else (record.at - row.at) // 1000,
        )

    def _requested(self, record: Record) -> None:
        key = session_key(record)
        data = msgspec.convert(record.data, RequestData)
        view = PendingView(
            id=record.request or "",
            at=record.at,
            agent=key[0],
            session=key[1],
            label=self.seen.views[key].label,
            call=record.call or "",
            data=data,
        )
        self.pending[view.id] = view
        self.seen.ask(key, 1)
        self.calls.edit(
            call_key(record),
            glyph="?",
            stage="pending",
            request=view.id,
            risk=data.risk,
            took_ms=None,
            ended_at=None,
        )

    def _extended(self, record: Record) -> None:
        view = self.pending.get(record.request or "")
        if view is not None:
            data = msgspec.structs.replace(view.data, deadline_at=record.data["deadline_at"])
            self.pending[view.id] = msgspec.structs.replace(view, data=data)

    def _decided(self, record: Record) -> None:
        view = self.pending.pop(record.request or "", None)
        if view is not None:
            self.seen.ask((view.agent, view.session), -1)
        word = record.data["word"]
        self._count(ENDINGS[word][2])
        self._end_row(record, word)
        if view is not None:
            self.last = LastDecision(
                request=view.id,
                at=record.at,
                word=word,
                by=record.data["by"],
                label=view.label,
                tool=view.data.tool.name,
                summary=view.data.summary,
                waited_s=record.data["waited_s"],
            )

    def _undelivered(self, record: Record) -> None:
        """A decision that never reached the agent counts as what the agent was told instead."""
        word = record.data["word"]
        row = self.calls.get(call_key(record))
        allowed = _ALLOWED.get(row.glyph) if row is not None else None
        if allowed is not None:
            self._count(allowed, -1)
            self._count(ENDINGS[word][2])
        if self.last is not None and self.last.request == record.request:
            self.last = msgspec.structs.replace(self.last, word=word)
        self._end_row(record, word)

    def _end_row(self, record: Record, word: str) -> None:
        """Show how the gate's part of a call ended; what it did since outranks that."""
        glyph, stage, _ = ENDINGS[word]
        key = call_key(record)
        row = self.calls.get(key)
        if row is None:
            return
        if row.stage in _RAN or row.alarm:
            self.calls.edit(key, glyph=glyph)
            return
        over = stage not in ("running", "handed back")
        self.calls.edit(
            key,
            glyph=glyph,
            stage=stage,
            ended_at=record.at if over else None,
            took_ms=(record.at - row.at) // 1000 if over else None,
        )

    def _contradicted(self, record: Record) -> None:
        self._count("alarms")
        stage = record.data.get("alarm") or "failed"
        self.calls.edit(call_key(record), stage=stage, alarm=True)

    def _turn_over(self, record: Record) -> None:
        self.calls.end_turn(record.agent or "", record.session or "")
        self.seen.edit(session_key(record), hidden_by="", turn_over_at=record.at)

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
            self.seen.edit(session_key(record), hidden_by=by)

    def _usage(self, record: Record) -> None:
        cost = record.data.get("total_cost_usd")
        if cost is not None:
            self.seen.edit(session_key(record), cost_usd=cost)

    def _started(self, record: Record) -> None:
        """A core that starts knows nothing of what an earlier one left open (AP-15)."""
        self.gate = GateView(profile=record.data.get("profile") or "guard")
        for view in self.pending.values():
            call = (view.agent, view.session, view.call)
            self.calls.edit(call, glyph="-", stage="no core", ended_at=record.at)
        self.pending.clear()
        self.calls.forget_nameless()
        self.traces.forget_nameless(record.seq)
        self.seen.start_over()

    def _off(self, record: Record) -> None:
        self.gate = msgspec.structs.replace(
            self.gate, off_until=record.data.get("until", 0), off_by=record.data.get("name", "")
        )

    def _on(self, _record: Record) -> None:
        self.gate = msgspec.structs.replace(self.gate, off_until=None, off_by="")

    def _journal(self, record: Record) -> None:
        self.gate = msgspec.structs.replace(self.gate, journal=record.data.get("detail", "lost"))


def _counted(recent: tuple[tuple[int, int], ...], second: int) -> tuple[tuple[int, int], ...]:
    """The last minute's calls by second with one more, which may be a little late."""
    if recent and second <= recent[-1][0] < second + MINUTE_S:
        last, count = recent[-1]
        return (*recent[:-1], (last, count + 1))
    # What lies further ahead was counted before the clock was set back.
    return (*(each for each in recent if second - MINUTE_S < each[0] < second), (second, 1))


_FOLDS: dict[str, Callable[[State, Record], None]] = {
    "tool.pre": State._call,
    "tool.permission": State._call,
    "tool.post": State._result,
    "tool.error": State._result,
    "turn.end": State._turn_over,
    "turn.error": State._turn_over,
    "turn.interrupt": State._turn_over,
    "session.end": State._turn_over,
    "usage": State._usage,
    "hook.trace": State._trace,
    "approval.requested": State._requested,
    "approval.extended": State._extended,
    "approval.decided": State._decided,
    "effect.undelivered": State._undelivered,
    "effect.contradicted": State._contradicted,
    "policy.started": State._started,
    "policy.off": State._off,
    "policy.on": State._on,
    "policy.journal": State._journal,
}
