"""The whole of one request or call on a page of its own."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from watchgate.core.views import CallRow
from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.moment import Moment
from watchgate.ui.screens.frame import Frame
from watchgate.ui.widgets.request.detail import Detail
from watchgate.ui.widgets.tabs import Part


class DetailScreen(Frame):
    """The docked request, whichever that is, or one call for as long as the page is open."""

    where: Where = "detail"

    def __init__(self, row: CallRow | None, home: str) -> None:
        super().__init__()
        self._row = row
        self.shows_request = row is None
        self.where = "detail" if row is None else "call"
        self.detail = Detail(home=home)

    @property
    def row(self) -> CallRow | None:
        """The call that it shows; None where it shows the docked request."""
        return self._row

    def body(self) -> Iterable[Widget]:
        """The text."""
        yield self.detail

    def show(self, moment: Moment) -> None:
        """Show what is known of it now."""
        super().show(moment)
        state, row = moment.state, self._row
        if row is None:
            all_shown = not moment.context.unseen
            many = len(moment.pending)
            place = f"{moment.index + 1} of {many}" if many > 1 else ""
            self.detail.show_request(
                moment.docked,
                state,
                moment.now_us,
                was_all_shown=all_shown,
                place=place,
                bare=moment.bare,
                reveal=moment.reveal,
            )
            return
        number = state.calls.number((row.agent, row.session, row.call))
        self.detail.show(row if number is None else state.rows[number], state, moment.now_us)

    def aside(self, moment: Moment) -> tuple[Part, ...]:
        """Returns how it closes."""
        what = "request" if self._row is None else "call"
        payload = f"{key_for('view')} its payload, " if moment.context.wide else ""
        return ((f"{what}: {payload}{key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scroll the text."""
        self.detail.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scroll by what is visible."""
        self.detail.scroll_pages(pages)
