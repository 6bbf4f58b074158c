"""The payload of a request or call: its input as it was sent, as a tree that folds.

- The whole of one request or call on a page of its own.
- The whole of one session on a page of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

import msgspec
from textual.widget import Widget

from watchgate.core.base import decoding
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record
from watchgate.core.state.state import State
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Refusal
from watchgate.ui.costs.cost_sums import whole
from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.base.request_words import too_long
from watchgate.ui.widgets.base.text_masking import Masking
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.payload.json_tree import JsonPath, long_paths
from watchgate.ui.widgets.payload.json_view import JsonView, PageSection
from watchgate.ui.widgets.payload.payload_sections import call_sections, request_sections
from watchgate.ui.widgets.request.request_detail import Detail
from watchgate.ui.widgets.session.session_page import SessionPage, SessionPicture

if TYPE_CHECKING:
    from watchgate.ui.source.core_bridge import Bridge


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
        """Returns the number of the session's calls that are known."""
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
        """Returns the text to copy: the session's id."""
        return self.key[1]

    def show(self, moment: ViewModel) -> None:
        """Shows what is known of it now."""
        super().show(moment)
        state = moment.state
        agent, session = self.key
        pending = [v for v in state.by_deadline() if (v.agent, v.session) == self.key]
        view = state.session(agent, session)
        cost = whole(state.usage, view) if view is not None else ""
        self.text.show(SessionPicture(view, self._own(state), pending, moment.now_us, cost))

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        return super().aside(moment) or ((f"session: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scrolls the page."""
        self.text.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.text.scroll_pages(pages)

    def enter(self) -> bool:
        """Does nothing: there is nothing on the page to open."""
        return True

    def _own(self, state: State) -> Sequence[CallRow]:
        """The session's calls; looked for again only after a call changed."""
        key = (state.rows, state.rows.revision)
        if key != self._rows[0]:
            newest = state.rows.tail(ROWS_LOOKED_AT)
            self._rows = (key, [r for r in newest if (r.agent, r.session) == self.key])
        return self._rows[1]


class RecordReader(Protocol):
    """The part of the app that reads the records of a call."""

    bridge: Bridge

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> object:
        """Runs something in the background."""


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

    def show(self, moment: ViewModel) -> None:
        """Shows what is known of it now."""
        super().show(moment)
        state, row = moment.state, self._row
        if row is None:
            all_shown = not moment.context.partly_shown
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

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        what = "request" if self._row is None else "call"
        payload = f"{key_for('view')} its payload, " if moment.context.wide else ""
        return ((f"{what}: {payload}{key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scrolls the text."""
        self.detail.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.detail.scroll_pages(pages)


RECORDS_READ = 200


class PayloadScreen(Frame):
    """The docked request's payload, or that of one call; nothing is decided on what it folds."""

    where: Where = "payload"

    def __init__(self, row: CallRow | None, home: str) -> None:
        super().__init__()
        self.row = row
        self.view = JsonView()
        self._home = home
        self._records: Sequence[Record] | None = None
        self._why_not = ""
        self._moment: ViewModel | None = None

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self.view

    def on_mount(self) -> None:
        if self.row is not None:
            cast("RecordReader", self.app).start(self._read)

    @property
    def items(self) -> int:
        """Returns the number of rows that can be folded or passed over."""
        return self.view.items

    @property
    def copied(self) -> str | None:
        """Returns the text to copy: the value under the cursor, as JSON."""
        return self.view.copied

    def show(self, moment: ViewModel) -> None:
        """Shows what is known of it now."""
        super().show(moment)
        self._moment = moment
        self._show_page(moment)

    def _show_page(self, moment: ViewModel) -> None:
        row = self.row
        if row is not None:
            number = moment.state.calls.number((row.agent, row.session, row.call))
            now = row if number is None else moment.state.rows[number]
            sections = call_sections(now, self._records, self._why_not)
            self.view.show(sections, key=("call", self._records is None), folded=_long(sections))
        elif moment.docked is not None:
            sections = request_sections(moment.docked, self._home)
            # What may still be allowed is there whole from the beginning.
            folded = _long(sections) if too_long(moment.docked.data) else frozenset()
            self.view.show(
                sections, key=moment.docked.id, folded=folded, masking=Masking(bare=moment.bare)
            )
        else:
            self.view.show((PageSection("", facts=(("", "nothing is pending"),)),), key=None)

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        return super().aside(moment) or ((f"payload: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Moves the cursor."""
        self.view.move(lines)

    def page(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.view.page(pages)

    def enter(self) -> bool:
        """Folds what the cursor is on, or unfolds it."""
        self.view.toggle()
        return True

    async def _read(self) -> None:
        """Asks the core for the call's records."""
        row, console = self.row, cast("RecordReader", self.app)
        if row is None:
            return
        try:
            answer = await console.bridge.call(
                "search", filter=f"call:{_quoted(row.call)}", limit=RECORDS_READ
            )
            if isinstance(answer, Refusal):
                self._why_not = answer.message
            else:
                records = decoding.convert(answer.ok.get("records", []), list[Record])
                self._records = [each for each in records if _of(each, row)]
        except (CoreLost, msgspec.ValidationError) as gone:
            self._why_not = str(gone)
        if self._moment is not None:
            self._show_page(self._moment)


def _of(record: Record, row: CallRow) -> bool:
    return record.agent == row.agent and record.session == row.session


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _long(sections: Sequence[PageSection]) -> frozenset[JsonPath]:
    return frozenset(
        (section.title, *place)
        for section in sections
        if section.value is not None
        for place in long_paths(section.value)
    )
