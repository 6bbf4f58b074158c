"""Marks on open requests that are alike, so that they can be allowed together.

Only low and medium requests that were shown in full are marked; what is allowed together is
exactly what was marked, and a request that comes later never joins by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from watchgate.core.base.amounts import count
from watchgate.core.gate.grant_rules import generalised
from watchgate.core.model.records import RequestData
from watchgate.core.model.views import PendingView
from watchgate.core.tools.summary import shown_text
from watchgate.ui.approval.consequences import BATCHED_RISKS
from watchgate.ui.base.formats import short_id

Likeness = tuple[object, ...]
NAMED_MAX = 3
"""So many requests that were decided together are named each."""


def likeness(data: RequestData) -> Likeness:
    """Returns the traits shared by requests allowed together: tool, folder, rules, words.

    Of a shell call the words are each command's program with its subcommand, and a command whose
    words are only known when it runs is like nothing but its own text.
    """
    words: list[object] = [_kind(segment.words) for segment in data.segments]
    plain = words and not data.opaque and not any(each.dynamic for each in data.segments)
    if data.tool.cls != "shell" or not plain:
        words = [shown_text(data.tool, data.summary)]
    rules = tuple(sorted({finding.rule for finding in data.findings}))
    return (data.tool.name, data.risk, data.cwd, data.rule, rules, *words)


def alike(view: PendingView, pending: Collection[PendingView]) -> int:
    """Returns the number of other open requests that are like this one."""
    if view.data.risk not in BATCHED_RISKS or len(pending) < 2:
        return 0
    own = likeness(view.data)
    return sum(likeness(each.data) == own for each in pending if each.id != view.id)


class Marks:
    """The marked requests, in the order in which they were marked."""

    def __init__(self) -> None:
        self._views: dict[str, PendingView] = {}

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the marked requests."""
        return frozenset(self._views)

    def together(self, request: str) -> tuple[PendingView, ...]:
        """Returns all marked requests if this is one of several, else none: an allow takes all."""
        several = request in self._views and len(self._views) > 1
        return tuple(self._views.values()) if several else ()

    def toggle(self, view: PendingView) -> str:
        """Marks a request or takes its mark away; returns the sentence for the operator."""
        name = short_id(view.id)
        if view.id in self._views:
            del self._views[view.id]
            return f"{name} is not marked any more{self._left()}"
        first = next(iter(self._views.values()), None)
        if first is not None and likeness(first.data) != likeness(view.data):
            return f"{name} is not like {short_id(first.id)}, which is marked: not marked"
        self._views[view.id] = view
        return f"{name} is marked{self._left()}"

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        """Forgets the marks of requests that are not open any more."""
        self._views = {
            name: pending[name] for name in self._views if _same(self._views[name], pending)
        }

    def _left(self) -> str:
        marked = len(self._views)
        return f": a allows the {marked} marked together" if marked > 1 else ""


def in_short(done: Sequence[str]) -> Sequence[str]:
    """Sums up what was done to several requests: one count where it was the same for many."""
    words = {each.partition(" ")[2] for each in done}
    if len(done) <= NAMED_MAX or len(words) > 1:
        return done
    return [f"{count(len(done))} {words.pop()}"]


def _same(view: PendingView, pending: Mapping[str, PendingView]) -> bool:
    now = pending.get(view.id)
    return now is not None and now.data.digest == view.data.digest


def _kind(words: tuple[str, ...]) -> tuple[str, ...]:
    return generalised(words)[0] if words else ()
