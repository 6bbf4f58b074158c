"""The dock: the one place where a request appears."""

from __future__ import annotations

from textual.message import Message
from textual.strip import Strip

from watchgate.ui.approval.arming import Card
from watchgate.ui.base.formats import ago
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.dock_lines import DockView, dock_rows, draw_dock

_NOTHING_YET = object()


class Dock(Pane):
    """Shows one request with its countdown, or the last decision on a single line."""

    DEFAULT_CSS = "Dock { height: 1; width: 1fr; }"
    ground = "s1"

    class Drawn(Message):
        """A frame shows this request now (or none): decision keys are checked against it."""

        def __init__(self, card: Card | None) -> None:
            super().__init__()
            self.card = card

    def __init__(self) -> None:
        super().__init__()
        self._docked = DockView(now_us=0)
        self._key: object = None
        self._card: Card | None = None
        self._reported: object = None
        self._rows = 0

    def show(self, docked: DockView) -> None:
        """Takes the newest picture; draws again only when a line would look different."""
        rows = dock_rows(*self.app.size, docked, flat=self.inks.flat)
        age = ago((docked.now_us - docked.last.at) / 1_000_000) if docked.last else ""
        left_s = docked.left_s
        key = (
            rows,
            docked.pending,
            docked.place,
            docked.count,
            docked.last,
            docked.one_line,
            docked.blocked,
            docked.quiet,
            docked.idle,
            docked.marked,
            docked.bare,
            docked.hint,
            age if docked.pending is None else None,
            int(left_s) if left_s is not None else None,
        )
        if key == self._key:
            return
        self._docked = docked
        self._key = key
        if rows != self._rows:
            self._rows = rows
            self.styles.height = rows
        self.redraw()
        if self._card != self._reported:
            # Another card may look the same: it is reported when it was painted, so paint it.
            self.refresh()

    def again(self) -> None:
        """Reports the card with the next frame, also where it is the one reported last.

        Another screen may have reported a different one meanwhile.
        """
        if self._key is None:
            return  # nothing was shown yet: its first picture is reported anyway
        self._reported = _NOTHING_YET
        self.refresh()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        drawn = draw_dock(self._docked, cells, rows, self.inks)
        view = self._docked.pending
        self._card = None
        if view is not None:
            self._card = Card(
                id=view.id,
                risk=view.data.risk,
                complete=drawn.complete,
                runs_unasked=view.data.runs_unasked,
                blocked=self._docked.blocked,
            )
        return drawn.lines

    def render_line(self, y: int) -> Strip:
        """Returns the line `y`; only what is really painted counts as shown."""
        strip = super().render_line(y)
        if self._card != self._reported:
            self._reported = self._card
            self.call_next(self._tell, self._card)
        return strip

    def _tell(self, card: Card | None) -> None:
        # A message made while the screen paints would count as the screen's own, and end there.
        self.post_message(self.Drawn(card))
