"""The payload of a request or call: its input as it was sent, as a tree that folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from textual.widget import Widget

from watchgate.core import decoding
from watchgate.core.records import Record
from watchgate.core.views import CallRow
from watchgate.link.lines import CoreLost
from watchgate.link.protocol import Refusal
from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.moment import Moment
from watchgate.ui.screens.frame import Frame
from watchgate.ui.widgets.payload.json_tree import Place, long_ones
from watchgate.ui.widgets.payload.json_view import JsonView, Section
from watchgate.ui.widgets.payload.sections import call_sections, request_sections
from watchgate.ui.widgets.request.request_words import too_long
from watchgate.ui.widgets.shown import Look
from watchgate.ui.widgets.tabs import Part

if TYPE_CHECKING:
    from watchgate.ui.app import WatchgateApp

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
        self._moment: Moment | None = None

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self.view

    def on_mount(self) -> None:
        if self.row is not None:
            cast("WatchgateApp", self.app).start(self._read)

    @property
    def items(self) -> int:
        """Returns how many rows can be folded or passed over."""
        return self.view.items

    @property
    def copied(self) -> str | None:
        """Returns what the cursor is on, as JSON writes it."""
        return self.view.copied

    def show(self, moment: Moment) -> None:
        """Show what is known of it now."""
        super().show(moment)
        self._moment = moment
        self._show_page(moment)

    def _show_page(self, moment: Moment) -> None:
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
                sections, key=moment.docked.id, folded=folded, masking=Look(bare=moment.bare)
            )
        else:
            self.view.show((Section("", facts=(("", "nothing is pending"),)),), key=None)

    def aside(self, moment: Moment) -> tuple[Part, ...]:
        """Returns how it closes."""
        return super().aside(moment) or ((f"payload: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Move the cursor."""
        self.view.move(lines)

    def page(self, pages: int) -> None:
        """Scroll by what is visible."""
        self.view.page(pages)

    def enter(self) -> bool:
        """Fold what the cursor is on, or unfold it."""
        self.view.toggle()
        return True

    async def _read(self) -> None:
        """Ask the core for the call's records."""
        row, console = self.row, cast("WatchgateApp", self.app)
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


def _long(sections: Sequence[Section]) -> frozenset[Place]:
    return frozenset(
        (section.title, *place)
        for section in sections
        if section.value is not None
        for place in long_ones(section.value)
    )
