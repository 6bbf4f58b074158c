"""The calls of the past that a console holds: pages of the journal, and what came since."""

from __future__ import annotations

import msgspec

from watchgate.core.history_row import HistoryRow

KEPT = 5_000
"""How many calls are held at most; for older ones the filter has to say more."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The core's answer to a search for calls, newest first; numbers are those of records.

    `next` asks for those before these, `looked_at` of all `records` were gone through, `newest` is
    the last. In an answer about changes `gone` are calls that a filter does not take, and `reset`
    says that there were too many. `host` is the machine, where there are several.
    """

    calls: tuple[HistoryRow, ...] = ()
    next: int | None = None
    looked_at: int = 0
    records: int = 0
    newest: int = 0
    gone: tuple[int, ...] = ()
    reset: bool = False
    host: str = ""


class Past:
    """The recorded calls read so far, newest first, and the cursor: on a call, not on a line.

    `version` grows with every change, `listed` with those of the calls alone; `asked` is the
    filter's number, so that an answer to an older question is known as one. `begun` says that this
    filter has had an answer.
    """

    def __init__(self) -> None:
        self.filter = self.sent = ""
        self.rows: list[HistoryRow] = []
        self.next: int | None = None
        self.looked_at = 0
        self.records = 0
        self.newest = 0
        self.asked = 0
        self.version = 0
        self.listed = 0
        self.begun = False
        self.fault = ""
        self.host = ""
        self.relaxed: tuple[tuple[str, int, bool], ...] = ()
        """What each condition keeps back: without it so many calls pass, or more."""
        self._cursor: int | None = None
        self._index = 0
        self._lost: int | None = None

    @property
    def selected(self) -> HistoryRow | None:
        """The call under the cursor."""
        return self.rows[self._index] if self.rows else None

    @property
    def index(self) -> int:
        """The place of that call."""
        return self._index

    @property
    def full(self) -> bool:
        """Returns whether no older calls are held."""
        return len(self.rows) >= KEPT

    @property
    def more(self) -> bool:
        """Returns whether older calls can be asked for."""
        return not self.begun or (self.next is not None and not self.full)

    @property
    def seeking(self) -> bool:
        """Returns whether the call that had the cursor may yet come with an older page."""
        return self._lost is not None and self.more and self._lost < (self.next or 0)

    def ask(self, text: str, sent: str | None = None) -> None:
        """Begin anew with a filter; what was found before is shown until there is an answer.

        The core is asked in the words `sent`, in which times do not depend on when they are read.
        With the same filter the cursor stays with its call, however many pages down that is.
        """
        if text != self.filter:
            self._lost = None
        elif self._lost is None:
            self._lost = self._cursor
        self.filter = text
        self.sent = text if sent is None else sent
        self.asked += 1
        self.begun = False
        self.fault = ""
        self.version += 1

    def take(self, page: Page) -> None:
        """Take a page: the first of this filter, or the one after those that are held."""
        if not self.begun:
            self.rows, self.looked_at, self.newest, self.relaxed = [], 0, page.newest, ()
        self.begun, self.fault = True, ""
        known = {row.first for row in self.rows}
        self.rows += [row for row in page.calls if row.first not in known]
        self.next, self.records, self.host = page.next, page.records, page.host
        self.looked_at += page.looked_at
        self._placed()

    def change(self, page: Page) -> None:
        """Take what changed: new calls, and those that are held as they are now."""
        if page.reset:
            self.ask(self.filter, self.sent)
            return
        oldest = self.next or 0  # what began before that comes with its own page
        changed = [row for row in page.calls if row.first >= oldest]
        out = {row.first for row in changed} | set(page.gone)
        remaining = [row for row in self.rows if row.first not in out]
        self.rows = sorted((*changed, *remaining), key=lambda row: -row.first)
        self.looked_at += max(0, page.records - self.records)
        self.records, self.newest, self.fault = page.records, page.newest, ""
        if len(self.rows) > KEPT:
            del self.rows[KEPT:]
            self.next = self.rows[-1].first
        self._placed()

    def refuse(self, why: str) -> None:
        """There was no answer; what is held stays."""
        self.fault = why
        self.version += 1

    def relax(self, misfits: tuple[tuple[str, int, bool], ...]) -> None:
        """Hear what would be found without one condition each."""
        self.relaxed = misfits
        self.version += 1

    def move(self, by: int) -> bool:
        """Move the cursor by so many calls; whether it moved."""
        return bool(self.rows) and self.put(min(max(0, self._index + by), len(self.rows) - 1))

    def put(self, index: int) -> bool:
        """Put the cursor on a call by its place."""
        if not 0 <= index < len(self.rows):
            return False
        moved, self._index = index != self._index, index
        self._cursor, self._lost = self.rows[index].first, None
        self.version += 1
        return moved

    def _placed(self) -> None:
        """The cursor stays with its call; without it, with the nearest place."""
        firsts = {row.first: number for number, row in enumerate(self.rows)}
        last = max(0, len(self.rows) - 1)
        if self._lost in firsts:
            self._cursor = self._lost
        if not self.seeking:
            self._lost = None
        self._index = firsts.get(self._cursor or 0, min(self._index, last))
        self._cursor = self.rows[self._index].first if self.rows else None
        self.listed += 1
        self.version += 1
