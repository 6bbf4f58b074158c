"""Tells of what is new to whoever looks elsewhere: bell, desktop and title, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from watchgate.core.gate_folds import is_off
from watchgate.core.state import State
from watchgate.ui.bridge import Link
from watchgate.ui.telling.encoding import TITLE, Telling, plain, sequence
from watchgate.ui.telling.notices import Notice, Notices
from watchgate.ui.telling.title import set_title, title

Start = Callable[[Callable[[], Coroutine[None, None, None]]], object]


class Announcer:
    """Tells what each picture of a core calls for, and keeps the terminal's title up to date.

    `ring` rings the bell, `write` writes to the terminal, `start` runs something beside the screen.
    `focused` is whether the terminal has the focus, None while it has not said.
    """

    def __init__(
        self,
        ring: Callable[[], None],
        write: Callable[[str], None],
        telling: Telling | None = None,
        start: Start | None = None,
    ) -> None:
        self.focused: bool | None = None
        self._ring = ring
        self._write = write
        self._telling = telling or Telling()
        self._start = start
        self._notices = Notices(command=self._telling.command)
        self._demo: Notices | None = None
        self._title = ""

    def announce(self, state: State, link: Link, now_us: int, *, demo: bool = False) -> None:
        """Tell of what was not told of yet; a demo that is played is told of for itself."""
        if not demo:
            self._demo = None
        elif self._demo is None:
            self._demo = Notices(command=self._telling.command)
        notices = (self._demo or self._notices).look(state, link, now_us)
        if notices and self._telling.bell and any(notice.rings for notice in notices):
            self._ring()
        if not (self._telling.unfocused and self.focused):
            for notice in notices:
                self._tell(notice, demo=demo)
        words = title(len(state.pending), lost=link.lost, off=is_off(state.gate, now_us))
        if self._telling.title and words != self._title:
            self._title = words
            self._write(set_title(words))

    def _tell(self, notice: Notice, *, demo: bool) -> None:
        telling = self._telling
        named = f"{TITLE} demo" if demo else TITLE
        written = sequence(notice.text, way=telling.way, wrap=telling.wrap, title=named)
        around, start = telling.around, self._start
        if around is None or start is None:
            if written:
                self._write(written)
            return

        async def tell() -> None:
            if not await around(f"{named}: {plain(notice.text)}") and written:
                self._write(written)

        start(tell)
