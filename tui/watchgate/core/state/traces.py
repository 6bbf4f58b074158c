"""The newest hook traces: the handlers that every event met, grouped by call.

- The handler that costs the most time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.bounded import Ring
from watchgate.core.dispatch.presets import PRESETS
from watchgate.core.model.records import Record, TraceData
from watchgate.core.model.verdicts import TraceRow

HIDING: Final = frozenset(name for name, preset in PRESETS.items() if preset.hides)
_BEFORE: Final[frozenset[str]] = frozenset({"tool.pre", "tool.permission"})
MAX_TRACES = 2_000
TEXT_CHARS = 2_048
STREAM_CHARS = 1_024

Key = tuple[str, str, str, int]
"""Agent, session, call, and for an event that is about no call its own number."""


class TraceView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One dispatch of an event: when it began (UTC µs), whose it was, and what its handlers did.

    `seq` is the number of its record, `call` empty where the event is about no call. Texts are cut
    here, the record has them whole.
    """

    seq: int
    at: int
    agent: str
    session: str
    call: str
    label: str
    data: TraceData

    @property
    def key(self) -> Key:
        """Agent, session and call: all traces of one call have the same key."""
        return self.agent, self.session, self.call, 0 if self.call else self.seq


class TracedCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line of traces: the dispatches of a call, or the one of an event without a call."""

    key: Key
    traces: tuple[TraceView, ...]

    @property
    def at(self) -> int:
        """The beginning of its first dispatch, in UTC µs."""
        return self.traces[0].at

    @property
    def label(self) -> str:
        """The name of its session."""
        return self.traces[0].label

    @property
    def tool(self) -> str:
        """The tool of the call, or the agent's own name of the event."""
        return next((t.data.tool for t in self.traces if t.data.tool), self.traces[0].data.native)

    @property
    def summary(self) -> str:
        """The call in its own words; empty where there is none."""
        return next((t.data.summary for t in self.traces if t.data.summary), "")

    @property
    def decisive(self) -> TraceData:
        """The newest dispatch that somebody decided, or the newest of all."""
        newest_first = [trace.data for trace in reversed(self.traces)]
        return next((data for data in newest_first if data.decided_by), newest_first[0])

    @property
    def took_ms(self) -> float:
        """The time that the agent waited for hooks and rules, all its dispatches together."""
        return sum(decided_in_ms(trace.data) for trace in self.traces)


class Traces:
    """A ring of the newest traces, the oldest first."""

    def __init__(self, views: Iterable[TraceView] = (), *, max_traces: int = MAX_TRACES) -> None:
        self.ring: Ring[TraceView] = Ring(max_traces)
        for view in views:
            self.ring.append(view)

    def add(self, record: Record, label: str) -> TraceView:
        """Adds the trace that a `hook.trace` record holds; raises `msgspec.ValidationError`."""
        view = TraceView(
            seq=record.seq,
            at=record.at,
            agent=record.agent or "",
            session=record.session or "",
            call=record.call or "",
            label=label,
            data=_bounded(decoding.convert(record.data, TraceData)),
        )
        self.ring.append(view)
        return view

    def forget_nameless(self, seq: int) -> None:
        """Renames calls without an id: a core that starts at record `seq` counts them anew."""
        for number in range(self.ring.first, self.ring.end):
            view = self.ring[number]
            if view.call.startswith("~"):
                self.ring[number] = msgspec.structs.replace(view, call=f"before {seq} {view.call}")


def decided_in_ms(data: TraceData) -> float:
    """Returns the duration of a dispatch in ms, until the last handler and the policy spoke."""
    ends = (
        row.start_ms + row.duration_ms
        for row in data.rows
        if row.role == "gate" and row.start_ms is not None and row.duration_ms is not None
    )
    return max(data.took_ms, *ends, 0.0)


def group_traces(traces: Iterable[TraceView]) -> list[TracedCall]:
    """Groups traces into lines, in the order in which each line first appears."""
    lines: dict[Key, list[TraceView]] = {}
    for trace in traces:
        lines.setdefault(trace.key, []).append(trace)
    return [
        TracedCall(key=key, traces=tuple(sorted(views, key=_began))) for key, views in lines.items()
    ]


def _began(view: TraceView) -> tuple[int, bool, int]:
    """Returns the sort key of a dispatch by its beginning; records come in the order of the ends.

    A program's lines may come at one moment; what is asked before a call stands before the rest.
    """
    return view.at, view.data.kind not in _BEFORE, view.seq


def hidden_by(data: TraceData) -> str:
    """Returns the handler that keeps the event from being shown; empty where none does.

    Only presets whose verdicts are about what is shown hide anything; a denial that came where
    nobody waited for it changes nothing at all.
    """
    denied = data.effect == "view" and data.decision == "deny" and data.decided_by != "policy"
    return (data.decided_by or "") if denied and shows_only(data) else ""


def shown_by(data: TraceData) -> str:
    """Returns the handler that shows the call in other words (`data.shown`); empty where none."""
    if not (data.shown and shows_only(data)):
        return ""
    rewrites = (row for row in data.rows if row.verdict == "modify" and not row.ignored)
    return next((row.handler for row in rewrites), "")


def ended_by(data: TraceData) -> str:
    """Returns the handler that ended what is shown of the turn (SD-17); empty where none did."""
    author = hidden_by(data)
    aborts = any(row.handler == author and row.verdict == "abort" for row in data.rows)
    return author if aborts else ""


def shows_only(data: TraceData) -> bool:
    """Returns whether handlers of this event's preset only decide what is shown, and no more."""
    return data.effect == "view" and data.preset in HIDING


def _bounded(data: TraceData) -> TraceData:
    return msgspec.structs.replace(
        data,
        reason=data.reason[:TEXT_CHARS],
        summary=data.summary[:TEXT_CHARS],
        shown=data.shown[:TEXT_CHARS],
        rows=tuple(_bounded_row(row) for row in data.rows),
    )


def _bounded_row(row: TraceRow) -> TraceRow:
    run = row.run
    if max(len(row.detail), len(run.stdout), len(run.stderr)) <= STREAM_CHARS:
        return row
    return msgspec.structs.replace(
        row,
        detail=row.detail[:TEXT_CHARS],
        run=msgspec.structs.replace(run, stdout=_ends(run.stdout), stderr=_ends(run.stderr)),
    )


def _ends(text: str) -> str:
    """Returns the beginning and the end of a text: the most telling parts of an output."""
    if len(text) <= STREAM_CHARS:
        return text
    half = STREAM_CHARS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half:,} characters left out ...\n{text[-half:]}"


DAY_US = 86_400 * 1_000_000


class SlowestHandler(msgspec.Struct, frozen=True):
    """The handler whose slowest twentieth takes longest, and the lower bound of that time."""

    handler: str
    p95_ms: float


def slowest(traces: Iterable[TraceView], day_of_us: int) -> SlowestHandler | None:
    """Returns the slowest handler of the UTC day that holds `day_of_us`; None when none ran."""
    day = day_of_us // DAY_US
    times: dict[str, list[float]] = {}
    for trace in traces:
        if trace.at // DAY_US != day:
            continue
        for row in trace.data.rows:
            if row.duration_ms is not None:
                times.setdefault(row.handler, []).append(row.duration_ms)
    if not times:
        return None
    return max(
        (SlowestHandler(handler, percentile(taken, 95)) for handler, taken in times.items()),
        key=lambda each: each.p95_ms,
    )


def percentile(values: list[float], percent: int) -> float:
    """Returns the smallest value that at least so many percent are not above (nearest rank)."""
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(1, rank) - 1]
