"""The calls that have traces: one line each, the newest at the bottom, narrowed by a filter."""

from __future__ import annotations

import msgspec

from watchgate.core.state import State
from watchgate.core.traces import Key, TracedCall, TraceView, grouped
from watchgate.core.views import CallRow
from watchgate.ui.widgets.traces.filter import Keep
from watchgate.ui.widgets.traces.list import Entry
from watchgate.ui.widgets.traces.words import ended


class _Made(msgspec.Struct, frozen=True, gc=False):
    """A cached line with its sources; `entry` is None where the filter drops it."""

    views: list[TraceView]
    call: TracedCall
    row: CallRow | None
    entry: Entry | None


class TraceEntries:
    """Makes the lines of a state: under load a few change, ten times a second.

    `keep` is the filter that they pass, None without one.
    """

    def __init__(self, keep: Keep | None = None) -> None:
        self._keep = keep
        self._made: dict[Key, _Made] = {}

    def of(self, state: State) -> list[Entry]:
        """Returns the lines of this state in the order in which each first appears."""
        by_call: dict[Key, list[TraceView]] = {}
        for trace in state.traces.ring:
            by_call.setdefault(trace.key, []).append(trace)
        before = self._made
        self._made = {
            key: self._again(before.get(key), views, state) for key, views in by_call.items()
        }
        return [made.entry for made in self._made.values() if made.entry is not None]

    def _again(self, made: _Made | None, views: list[TraceView], state: State) -> _Made:
        call = made.call if made is not None and made.views == views else grouped(views)[0]
        row = row_of(state, call)
        if made is not None and made.call is call and made.row is row:
            return made
        passes = self._keep is None or self._keep(call, row)
        return _Made(views, call, row, _entry(call, row) if passes else None)


def row_of(state: State, call: TracedCall) -> CallRow | None:
    """Returns the row of a traced call, while it is in memory."""
    return state.calls.get(call.key[:3]) if call.key[2] else None


def _entry(call: TracedCall, row: CallRow | None) -> Entry:
    glyph, _ = ended(call.decisive, row)
    return Entry(call, glyph, alarm=row is not None and row.alarm, row=row)
