"""The sessions: who works, who waits, and what the day brought; a sidebar, or an overlay at 80."""

from __future__ import annotations

from textual.message import Message

from watchgate.core.sessions import SessionState
from watchgate.core.state import State
from watchgate.core.text import safe_text
from watchgate.core.views import SessionView
from watchgate.ui.formats import count, cut, money
from watchgate.ui.overview import (
    live_sessions,
    session_word,
    sparklines,
    today,
    waiting_since,
)
from watchgate.ui.palettes import Token
from watchgate.ui.widgets.pane import Line, Pane


class Sessions(Pane):
    """The list of live sessions with a cursor of its own, and the counters of the day below."""

    DEFAULT_CSS = "Sessions { width: 32; height: 1fr; }"

    ground = "s1"
    can_focus = True

    class Opened(Message):
        """The session under the cursor was chosen; `label` is its name in the table."""

        def __init__(self, label: str) -> None:
            super().__init__()
            self.label = label

    def __init__(self) -> None:
        super().__init__()
        self._state = State(rows_kept=1)
        self._now_us = 0
        self._stale = False
        self._key: tuple[str, str] | None = None

    def show(self, state: State, now_us: int, *, stale: bool) -> None:
        """Show the sessions of this state; `stale` when the core that told of them is lost."""
        self._state, self._now_us, self._stale = state, now_us, stale
        self.redraw()

    def move(self, by: int) -> None:
        """Move the cursor by so many sessions, no further than the first or last."""
        live = live_sessions(self._state)
        if live:
            place = min(max(self._place(live) + by, 0), len(live) - 1)
            self._key = (live[place].agent, live[place].session)
            self.redraw()

    def open(self) -> None:
        """Choose the session under the cursor."""
        live = live_sessions(self._state)
        if live:
            self.post_message(self.Opened(live[self._place(live)].label))

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        head = self.line().add("  sessions", "dim").to(17)
        lines = [head.add("last min", "dim").right("cost ", "dim")]
        live = live_sessions(self._state)
        airy = 1 + 3 * len(live) <= rows
        each = 3 if airy else 2
        day = self._day()
        if 1 + each * len(live) + len(day) > rows:
            day = []
        room = rows - 1
        fit = max(1, room // each)
        if len(live) > fit:
            fit = max(1, (room - 1) // each)
        place = self._place(live)
        first = max(0, min(place - fit + 1, len(live) - fit)) if place >= fit else 0
        sparks = sparklines(live, self._now_us)
        since = waiting_since(self._state)
        for number, view in enumerate(live[first : first + fit], start=first):
            if airy:
                lines.append(self.line())
            waiting = since.get((view.agent, view.session))
            lines += self._session(view, sparks[number], waiting, chosen=number == place)
        if len(live) > fit:
            how = "j k go there" if self.has_focus else "s lists them"
            lines.append(self.line().add(f"  {count(len(live) - fit)} more, {how}", "dim"))
        ungated = next((view for view in live if view.gated is False), None)
        if ungated is not None and airy and len(lines) + 4 <= rows - len(day):
            lines += self._not_gated(ungated)
        return [*lines, *day]

    def _session(
        self, view: SessionView, spark: str, waiting: int | None, *, chosen: bool
    ) -> list[Line]:
        ground: Token = ("sel" if self.has_focus else "s2") if chosen else "s1"
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        name = self.line(ground).add(
            "> " if chosen else "  ", "accent" if self.has_focus else "dim", bold=True
        )
        kept, dots = cut(safe_text(view.label), 30 - len(view.agent) - 2)
        name.add(kept, ink, bold=True).add(dots, quiet)
        name.right(f"{safe_text(view.agent)} ", quiet)
        word = session_word(view, waiting, self._now_us)
        asks = view.shown is SessionState.WAITING
        state = self.line(ground).add("  ")
        if asks:
            state.add("? ", ink, bold=True)
            word = "waiting" if self._stale else word
        loud = asks or view.gated is False or view.shown is SessionState.FAILED
        state.fit(word, 14, ink if loud else quiet, bold=view.shown is SessionState.FAILED)
        state.to(17).add("" if self._stale else spark, "faint")
        return [name, state.right(f"{money(view.cost_usd)} ", ink)]

    def _not_gated(self, view: SessionView) -> list[Line]:
        label, dots = cut(safe_text(view.label), 14)
        return [
            self.line(),
            self.line().add(f"  {label}{dots}: only watched,", "dim"),
            self.line().add("  nothing of it is held. ", "dim").add("i", "accent", bold=True),
            self.line().add("  shows the line that gates it.", "dim"),
        ]

    def _day(self) -> list[Line]:
        lines = [self.line(), self.line().add("  today", "dim")]
        ink: Token = "off" if self._stale else "fg"
        for glyph, words, number in today(self._state.totals):
            line = self.line().add(f"  {glyph or ' '} ", ink).add(words, "dim")
            lines.append(line.right(f"{number} ", ink))
        return lines

    def _place(self, live: list[SessionView]) -> int:
        keys = [(view.agent, view.session) for view in live]
        return keys.index(self._key) if self._key in keys else 0
