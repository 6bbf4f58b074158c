"""The whole of one session on a page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from watchgate.core.model.views import CallRow
from watchgate.core.state.state import State
from watchgate.ui.costs.cost_sums import whole
from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.session.session_page import SessionPage, SessionPicture

ROWS_LOOKED_AT = 5_000
"""Newest calls of all sessions among which those of this one are looked for."""


class SessionScreen(Frame):
    """One session, as it is now, for as long as the page is open."""

    where: Where = "session"

    def __init__(self, agent: str, session: str, home: str) -> None:
        super().__init__()
        self.key = (agent, session)
        self._home = home
        self.text = SessionPage(home)
        self._rows: tuple[object, Sequence[CallRow]] = (None, ())

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self.text

    @property
    def items(self) -> int:
        """Returns how many of its calls are known."""
        return len(self._rows[1])

    @property
    def playable(self) -> tuple[str, str]:
        """The session itself."""
        return self.key

    def once_more(self) -> SessionScreen:
        """The same session on a page of its own."""
        return SessionScreen(*self.key, self._home)

    @property
    def copied(self) -> str | None:
        """Returns what a copy takes: the session's id."""
        return self.key[1]

    def show(self, moment: ViewModel) -> None:
        """Show what is known of it now."""
        super().show(moment)
        state = moment.state
        agent, session = self.key
        pending = [v for v in state.by_deadline() if (v.agent, v.session) == self.key]
        view = state.session(agent, session)
        cost = whole(state.usage, view) if view is not None else ""
        self.text.show(SessionPicture(view, self._own(state), pending, moment.now_us, cost))

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns how it closes."""
        return super().aside(moment) or ((f"session: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scroll the page."""
        self.text.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scroll by what is visible."""
        self.text.scroll_pages(pages)

    def enter(self) -> bool:
        """There is nothing on it to open."""
        return True

    def _own(self, state: State) -> Sequence[CallRow]:
        """The session's calls; looked for again only after a call changed."""
        key = (state.rows, state.rows.revision)
        if key != self._rows[0]:
            newest = state.rows.tail(ROWS_LOOKED_AT)
            self._rows = (key, [r for r in newest if (r.agent, r.session) == self.key])
        return self._rows[1]
