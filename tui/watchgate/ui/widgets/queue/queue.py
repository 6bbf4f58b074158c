"""The queue: open requests by deadline, and below them the newest settled with their endings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

import msgspec
from textual.events import Click
from textual.message import Message

from watchgate.core.views import PendingView, Settled
from watchgate.ui.deciding.consequences import seconds_left
from watchgate.ui.widgets.pane import Line, Pane
from watchgate.ui.widgets.queue.lines import pending_lines, settled_lines

HEAD = 2
"""A section's title, and the empty line below it."""

TALL = 3
FLAT = 2
"""The lines of an entry, with and without an empty one below it."""

AIRY_FROM = 26


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the queue at `now_us` (UTC µs): open requests by deadline, newest settled.

    `chosen` is the id of the one under the cursor, `marked` are the ids of those marked; `stale`
    says that no core answers, so that no time is known.
    """

    now_us: int = 0
    pending: tuple[PendingView, ...] = ()
    settled: tuple[Settled, ...] = ()
    chosen: str = ""
    marked: frozenset[str] = frozenset()
    stale: bool = False


class Queue(Pane):
    """The list of requests; its cursor is the docked one, and only the operator moves it."""

    DEFAULT_CSS = "Queue { width: 38; height: 1fr; }"

    ground = "s1"

    class Chosen(Message):
        """A request was clicked."""

        def __init__(self, request: str) -> None:
            super().__init__()
            self.request = request

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._view = QueueView()
        self._key: object = None
        self._top = 0
        self._places: list[tuple[str, int]] = []

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """The requests that are visible, each with the line where it begins."""
        return self._places

    def show(self, view: QueueView) -> None:
        """Shows this queue; draws again only when a line would look different."""
        times = [seconds_left(each.data, view.now_us) for each in view.pending]
        seconds = () if view.stale else tuple(t if t is None else int(t) for t in times)
        key = (msgspec.structs.replace(view, now_us=0), seconds)
        if key != self._key:
            self._key, self._view = key, view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        view = self._view
        lines = [self._head(view), self.line()]
        room = rows - HEAD
        tall = rows >= AIRY_FROM and len(view.pending) * TALL - 1 <= room
        each = TALL if tall else FLAT
        fits = len(view.pending) * each - tall <= room
        fitting = len(view.pending) if fits else max(1, (room - 1) // each)
        place = next((n for n, one in enumerate(view.pending) if one.id == view.chosen), 0)
        last = len(view.pending) - fitting
        self._top = max(0, min(max(self._top, place - fitting + 1), place, last))
        self._places = []
        for asked in view.pending[self._top : self._top + fitting]:
            self._places.append((asked.id, len(lines)))
            lines += [*self._entry(asked, cells), *([self.line()] if tall else [])]
        if not view.pending:
            lines += [self.line().to(2).add("nothing waits", "dim"), self.line()]
        if not fits:
            lines.append(self._others(self._top, len(view.pending) - self._top - fitting))
            return lines
        return lines + self._settled(cells, rows - len(lines), airy=rows >= AIRY_FROM)

    def on_click(self, event: Click) -> None:
        for request, line in self._places:
            if line <= event.y < line + FLAT:
                self.post_message(self.Chosen(request))

    def _head(self, view: QueueView) -> Line:
        """Returns the title, with what silence does to all of them, if it does the same to each."""
        line = self.line().to(2).add("queue", "dim")
        if not view.pending:
            return line
        if view.stale:
            return line.right("as last seen ", "dim")
        denied = all(each.data.silence == "deny" for each in view.pending)
        return line.right("denied in " if denied else "silence ends in ", "dim")

    def _entry(self, asked: PendingView, cells: int) -> list[Line]:
        view = self._view
        chosen = asked.id == view.chosen
        ground = "sel" if chosen and not view.stale else "s2" if chosen else self.ground
        lines = [self.line(ground), self.line(ground)]
        marked = asked.id in view.marked
        left_s = None if view.stale else seconds_left(asked.data, view.now_us)
        pending_lines(lines, asked, cells, left_s, chosen=chosen, marked=marked, stale=view.stale)
        return lines

    def _others(self, above: int, below: int) -> Line:
        """Returns the line with the numbers of those that are not visible, above and below."""
        sides = [f"+{above} above"] * bool(above) + [f"+{below} more"] * bool(below)
        return self.line().to(6).add(", ".join(sides), "dim")

    def _settled(self, cells: int, room: int, *, airy: bool) -> list[Line]:
        """Returns the settled ones that fit whole below the queue, under a title of their own."""
        ended = self._view.settled
        each = TALL if airy else FLAT
        count = min(len(ended), (room - 1 - HEAD + airy) // each)
        if count < 1:
            return []
        lines = [self.line(), self.line().to(2).add("settled", "dim"), self.line()]
        for one in ended[:count]:
            pair = [self.line(), self.line()]
            settled_lines(pair, one, cells, zone=self._zone, stale=self._view.stale)
            lines += [*pair, *([self.line()] if airy else [])]
        return lines
