"""One session in full, scrolled: facts, what the gate saw of it, its agents, its calls."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from textual.events import MouseScrollDown, MouseScrollUp

from watchgate.core.amounts import plural
from watchgate.core.views import CallRow, PendingView, SessionView
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line, Pane
from watchgate.ui.widgets.request.sheet import Sheet
from watchgate.ui.widgets.session.lines import session_lines

WHEEL = 3
AIRY_FROM = 30


class SessionPicture(msgspec.Struct, frozen=True):
    """A session at a moment: its view (None once forgotten), calls, requests and cost."""

    view: SessionView | None = None
    rows: Sequence[CallRow] = ()
    pending: Sequence[PendingView] = ()
    now_us: int = 0
    cost: str = ""


class SessionPage(Pane, can_focus=False):
    """The page with all that is known of one session."""

    DEFAULT_CSS = "SessionPage { height: 1fr; width: 1fr; }"

    def __init__(self, home: str) -> None:
        super().__init__()
        self._home = home
        self._picture = SessionPicture()
        self._offset = 0

    def show(self, picture: SessionPicture) -> None:
        """Shows the session as it is now."""
        self._picture = picture
        self.redraw()

    def scroll_lines(self, lines: int) -> None:
        """Scrolls; stops at both ends."""
        before, self._offset = self._offset, max(0, self._offset + lines)
        if self._offset != before:
            self.redraw()

    def scroll_pages(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.scroll_lines(pages * max(1, self.size.height - 1))

    def draw(self, cells: int, rows: int) -> list[Line]:
        picture = self._picture
        if picture.view is None:
            return [self.line().to(2).add("this session is not known any more", "dim")]
        sheet = Sheet(cells, self.inks, self._home, air=1 if rows >= AIRY_FROM else 0)
        view, now_us, cost = picture.view, picture.now_us, picture.cost
        lines = session_lines(view, picture.rows, picture.pending, now_us, sheet, cost)
        self._offset = min(self._offset, max(0, len(lines) - rows))
        shown = lines[self._offset : self._offset + rows]
        left = len(lines) - self._offset - rows
        if left > 0 and shown:
            more = self.line().to(2).add(f"+{plural(left + 1, 'line')}", "dim")
            shown[-1] = more.add(f"   {key_for('down')}", "accent", bold=True).add(" down", "dim")
        return shown

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(WHEEL)
