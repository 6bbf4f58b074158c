"""One host's records and views under its name, its clock turned into ours.

Sessions, requests and grants are named by their host, so that no report of one host can be about
those of another. Digests, calls and the text of requests stay as the core sent them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from watchgate.core.base import decoding
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import COUNTED, Record
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.usage_records import CountedData, CountedRow, Limit, Minute
from watchgate.core.model.views import GateView, PendingView, Settled
from watchgate.core.state.hosts import name_on_host
from watchgate.core.state.session_views import LABEL_CHARS
from watchgate.core.state.traces import TraceView
from watchgate.core.usage.budget import budget_key
from watchgate.core.usage.session_usage import SessionUsage, Spent
from watchgate.core.usage.usage_by_time import SessionLastHour
from watchgate.core.usage.usage_fold import DAY_US, UsageSnapshot
from watchgate.link.protocol import Snapshot

_MOMENTS = ("deadline_at", "until", "given_at", "used_at", "until_at")
_TIMED = ("approval.", "policy.", "grant.")
_IDS = ("id", "grant")
MINUTE_US = 60_000_000
LAST_US = 2**57
"""A moment in the year 6536: later ones cannot be written as a date everywhere."""

Day = TypeVar("Day", Spent, CountedRow)
"""Usage of one day."""


class HostNames(msgspec.Struct, frozen=True):
    """The name of a host, and the shift of its times (µs) to this machine's.

    `now_us` is this machine's time when the host told its first picture.
    """

    host: str
    shift_us: int = 0
    now_us: int = LAST_US

    def named(self, id: str) -> str:
        """The name of a session, a request or a grant."""
        return name_on_host(self.host, id)

    def label(self, label: str) -> str:
        """The label of a session."""
        return f"{self.host}:{label[:LABEL_CHARS]}"

    def moment(self, at_us: int) -> int:
        """A time by this machine's clock; 0 means that there is none."""
        return min(max(1, at_us + self.shift_us), LAST_US) if at_us else 0

    def past(self, at_us: int) -> int:
        """The time of a past event: now at the latest, whatever the host's clock says."""
        return min(self.moment(at_us), self.now_us)

    def record(self, record: Record, now_us: int) -> Record:
        """A record of this host that came at `now_us`."""
        data = record.data
        if record.kind.startswith(_TIMED):
            data = self._data(data)
        if record.kind.startswith("grant."):
            data = {**data, **{name: self.named(data[name]) for name in _IDS if name in data}}
        if record.kind == "usage" and "limits" in data:
            limits = self._limits(decoding.convert(data["limits"], tuple[Limit, ...]))
            data = {**data, "limits": msgspec.to_builtins(limits)}
        if record.kind == COUNTED:
            data = self._counted(data)
        return replace(
            record,
            at=min(self.moment(record.at), now_us),
            session=record.session if record.session is None else self.named(record.session),
            request=record.request and self.named(record.request),
            data=data,
        )

    def _data(self, data: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = {
            name: self.moment(data[name]) for name in _MOMENTS if isinstance(data.get(name), int)
        }
        if isinstance(data.get("session"), str):
            changed["session"] = data["session"] and self.named(data["session"])
        return {**data, **changed} if changed else data

    def _counted(self, data: dict[str, Any]) -> dict[str, Any]:
        """Returns the summed usage of a session's files, already validated."""
        counted = decoding.convert(data, CountedData)
        named: dict[str, Any] = msgspec.to_builtins(
            replace(
                counted,
                rows=self._until_now(counted.rows),
                turns=tuple(replace(turn, at=self.past(turn.at)) for turn in counted.turns),
                tools=tuple(replace(tool, at=self.past(tool.at)) for tool in counted.tools),
                minutes=self._minutes(counted.minutes),
                limits=self._limits(counted.limits),
                label=counted.label and self.label(counted.label),
            )
        )
        return named

    def named_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Plain values that an answer holds about a session, a call, a request or a grant."""
        data = self._data(dict(fields))
        for name in ("at", "received_at", "ended_at"):
            if isinstance(data.get(name), int):
                data[name] = self.moment(data[name])
        for name in ("id", "request"):
            if isinstance(data.get(name), str):
                data[name] = self.named(data[name])
        if isinstance(data.get("label"), str):
            data["label"] = self.label(data["label"])
        return data

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """A first picture of this host."""
        return replace(
            snapshot,
            now=self.past(snapshot.now),
            gate=self._gate(snapshot.gate),
            sessions=tuple(map(self._session, snapshot.sessions)),
            pending=tuple(map(self._pending, snapshot.pending)),
            grants=tuple(map(self._grant, snapshot.grants)),
            usage=self._usage(snapshot.usage),
            budgets={self._budget(key): each for key, each in snapshot.budgets.items()},
            settled=tuple(map(self._settled, snapshot.settled)),
            rows=tuple(map(self._row, snapshot.rows)),
            traces=tuple(map(self._trace, snapshot.traces)),
        )

    def _gate(self, gate: GateView) -> GateView:
        return replace(gate, off_until=gate.off_until and self.moment(gate.off_until))

    def _session(self, view: SessionView) -> SessionView:
        seconds = self.shift_us // 1_000_000
        return replace(
            view,
            session=self.named(view.session),
            label=self.label(view.label),
            host=self.host,
            since=self.past(view.since),
            seen_at=self.past(view.seen_at),
            recent=tuple((second + seconds, max(0, calls)) for second, calls in view.recent),
            turn_over_at=self.past(view.turn_over_at),
            left_at=self.past(view.left_at),
            paused_until=self.moment(view.paused_until),
            subs=tuple(replace(sub, since=self.past(sub.since)) for sub in view.subs),
        )

    def _pending(self, view: PendingView) -> PendingView:
        data = replace(view.data, deadline_at=self.moment(view.data.deadline_at))
        return replace(
            view,
            id=self.named(view.id),
            at=self.past(view.at),
            session=self.named(view.session),
            label=self.label(view.label),
            data=data,
        )

    def _grant(self, view: GrantView) -> GrantView:
        return replace(
            view,
            id=self.named(view.id),
            session=view.session and self.named(view.session),
            given_at=self.past(view.given_at),
            used_at=self.past(view.used_at),
            until_at=self.moment(view.until_at),
        )

    def _settled(self, end: Settled) -> Settled:
        return replace(
            end,
            request=self.named(end.request),
            at=self.past(end.at),
            session=self.named(end.session),
            label=self.label(end.label),
        )

    def _row(self, row: CallRow) -> CallRow:
        return replace(
            row,
            request=row.request and self.named(row.request),
            at=self.past(row.at),
            ended_at=row.ended_at and self.past(row.ended_at),
            session=self.named(row.session),
            label=self.label(row.label),
        )

    def _trace(self, view: TraceView) -> TraceView:
        return replace(
            view,
            at=self.past(view.at),
            session=self.named(view.session),
            label=self.label(view.label),
        )

    def _budget(self, key: str) -> str:
        """The name of a budget: the day's, or that of an agent's session."""
        agent, _, session = key.partition(" ")
        return budget_key(agent, self.named(session)) if session else key

    def _usage(self, usage: UsageSnapshot) -> UsageSnapshot:
        return replace(
            usage,
            sessions=tuple(map(self._used, usage.sessions)),
            spent=self._until_now(usage.spent),
            ran=tuple(day for day in usage.ran if day <= self._tomorrow),
            recent=tuple(map(self._recent, usage.recent)),
            begun=tuple((agent, self.named(session)) for agent, session in usage.begun),
            tools=tuple(replace(each, session=self.named(each.session)) for each in usage.tools),
            limits={
                agent: replace(limits, at=self.past(limits.at), limits=self._limits(limits.limits))
                for agent, limits in usage.limits.items()
            },
        )

    def _used(self, each: SessionUsage) -> SessionUsage:
        reported, counted = each.reported, each.counted
        if counted is not None:
            counted = replace(counted, rows=self._until_now(counted.rows))
        return replace(
            each,
            session=self.named(each.session),
            label=self.label(each.label),
            at=self.past(each.at),
            spent=self._until_now(each.spent),
            reported=replace(reported, spent=self._until_now(reported.spent)),
            counted=counted,
            turns=tuple(replace(turn, at=self.past(turn.at)) for turn in each.turns),
        )

    def _recent(self, each: SessionLastHour) -> SessionLastHour:
        return replace(
            each,
            session=self.named(each.session),
            reported=self._minutes(each.reported),
            counted=self._minutes(each.counted),
        )

    def _minutes(self, minutes: tuple[Minute, ...]) -> tuple[Minute, ...]:
        shift, last = self.shift_us // MINUTE_US, LAST_US // MINUTE_US
        return tuple(
            replace(each, at=each.at + shift) for each in minutes if 0 <= each.at + shift < last
        )

    def _limits(self, limits: tuple[Limit, ...]) -> tuple[Limit, ...]:
        return tuple(replace(each, resets_at=self.moment(each.resets_at)) for each in limits)

    def _until_now(self, parts: tuple[Day, ...]) -> tuple[Day, ...]:
        """Returns the usage of the days up to today; later ones are left out."""
        return tuple(each for each in parts if each.day <= self._tomorrow)

    @property
    def _tomorrow(self) -> int:
        return self.now_us // DAY_US + 1
