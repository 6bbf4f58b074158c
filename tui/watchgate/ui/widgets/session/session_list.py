"""The list of live sessions with the day's counters: a sidebar, or an overlay at 80 columns."""

from __future__ import annotations

from functools import partial
from textwrap import wrap

from textual.message import Message

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.state import State
from watchgate.ui.base.formats import cut_name
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.cost_sums import short
from watchgate.ui.fleet.fleet_words import why_lost
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.overview import (
    day_words,
    live_sessions,
    living,
    session_word,
    sparklines,
    today,
    waiting_since,
)
from watchgate.ui.widgets.base.pane import Pane, StyledLine

SUBS_SHOWN = 3
WIDE = 32
SPARK_AT = 17
TITLE_CELLS = 6
_ONLY_WATCHED = (
    "only watched, nothing of it is held. watchgate doctor tells whether its hooks are in place"
)


class Sessions(Pane):
    """The list of live sessions with a cursor of its own, and the counters of the day below."""

    DEFAULT_CSS = "Sessions { width: 32; height: 1fr; }"

    ground = "s1"
    can_focus = True
    FOCUS_ON_CLICK = False

    class Opened(Message):
        """The session under the cursor was chosen; `label` is its name in the table."""

        def __init__(self, label: str) -> None:
            super().__init__()
            self.label = label

    def __init__(self) -> None:
        super().__init__()
        self._state = State(max_rows=1)
        self._now_us = 0
        self._stale = False
        self._key: tuple[str, str] | None = None
        self._heads: list[tuple[int, tuple[str, str]]] = []
        self._was: object = None

    def show(self, state: State, now_us: int, *, stale: bool) -> None:
        """Shows the sessions of this state; `stale` when the core that reported them is lost."""
        self._state, self._now_us, self._stale = state, now_us, stale
        drawn_state = self._drawn_state()
        if drawn_state != self._was:
            self._was = drawn_state
            self.redraw()

    def move(self, by: int) -> None:
        """Moves the cursor by so many sessions, no further than the first or last."""
        live = live_sessions(self._state)
        if live:
            place = min(max(self._place(live) + by, 0), len(live) - 1)
            self._key = (live[place].agent, live[place].session)
            self.redraw()

    def open(self) -> None:
        """Chooses the session under the cursor."""
        live = live_sessions(self._state)
        if live:
            self.post_message(self.Opened(live[self._place(live)].label))

    @property
    def chosen(self) -> tuple[str, str] | None:
        """Agent and id of the session under the cursor."""
        live = live_sessions(self._state)
        if not live:
            return None
        view = live[self._place(live)]
        return view.agent, view.session

    def jumps(self) -> list[Jump]:
        """Returns the sessions that are visible now."""
        x, y, _, rows = self.region
        return [
            Jump(x, y + line, partial(self._go_to, key), ("session", *key))
            for line, key in self._heads
            if line < rows
        ]

    def _go_to(self, key: tuple[str, str]) -> None:
        self._key = key
        self.redraw()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        self._heads = []
        head = self.line().add("  sessions", "dim").to(17)
        lines = [head.add("last min", "dim").right("cost ", "dim")]
        live = live_sessions(self._state)
        heights = [2 + min(len(living(view)), SUBS_SHOWN + 1) for view in live]
        airy = 1 + sum(heights) + len(live) <= rows
        if airy:
            heights = [height + 1 for height in heights]
        day = self._day()
        if 1 + sum(heights) + len(day) > rows:
            day = []
        place = self._place(live)
        # Without the keys it shows its top, where those are who need a person.
        first, fit = _window(heights, place if self.has_focus else 0, rows - 1)
        sparks = sparklines(live, self._now_us)
        since = waiting_since(self._state)
        for number, view in enumerate(live[first : first + fit], start=first):
            if airy:
                lines.append(self.line())
            waiting = since.get((view.agent, view.session))
            self._heads.append((len(lines), (view.agent, view.session)))
            lines += self._session(view, sparks[number], waiting, chosen=number == place)
            lines += self._subs(view)
        if len(live) > fit:
            there = f"{key_for('down')} {key_for('up')} go there"
            remedy = there if self.has_focus else f"{key_for('sessions')} lists them"
            lines.append(self.line().add(f"  {count(len(live) - fit)} more, {remedy}", "dim"))
        why = self._why_lost()
        if why and len(lines) + len(why) > rows - len(day):
            day = []  # what has to be mended comes before what was counted
        if not why and airy:
            why = self._why_not(live, place)
        if len(lines) + len(why) <= rows - len(day):
            lines += why
        return [*lines, *day]

    def _drawn_state(self) -> object:
        """Returns everything that the lines are made of: most seconds change nothing of it."""
        state, now_us = self._state, self._now_us
        live, since = live_sessions(state), waiting_since(state)
        words = [session_word(v, since.get((v.agent, v.session)), now_us) for v in live]
        here = [host.here for host in state.hosts.values()]
        costs = [short(state.usage, view) for view in live]
        return live, words, costs, sparklines(live, now_us), state.totals, here, self._stale

    def _session(
        self, view: SessionView, spark: str, waiting: int | None, *, chosen: bool
    ) -> list[StyledLine]:
        ground: Token = ("sel" if self.has_focus else "s2") if chosen else "s1"
        away = self._away(view)
        stale = self._stale or away
        ink: Token = "off" if stale else "fg"
        quiet: Token = "off" if stale else "dim"
        name = self.line(ground).add(
            "> " if chosen else "  ", "accent" if self.has_focus else "dim", bold=True
        )
        room = WIDE - 2 - len(view.agent) - 2
        name.add(cut_name(safe_text(view.label), room), ink, bold=True)
        if view.title and room - name.left_cells >= TITLE_CELLS:
            name.add("  ").fit(safe_text(view.title), room - name.left_cells, quiet)
        name.right(f"{safe_text(view.agent)} ", quiet)
        word = "host lost" if away else session_word(view, waiting, self._now_us)
        asks = view.shown is SessionState.WAITING
        there = view.shown is SessionState.NEEDS_THERE
        state = self.line(ground).add("  ")
        if asks or there:
            state.add("? ", ink, bold=True)
            word = "waiting" if asks and self._stale else word
        loud = asks or there or view.gated is False or view.shown is SessionState.FAILED
        cost = short(self._state.usage, view)
        state.fit(word, 15, ink if loud else quiet, bold=there or view.shown is SessionState.FAILED)
        # A bar that touches the cost cannot be read, and one that is cut says another figure.
        if state.left_cells < SPARK_AT and SPARK_AT + len(spark) + len(cost) + 2 <= WIDE:
            state.to(SPARK_AT).add("" if stale else spark, "faint")
        return [name, state.right(f"{cost} ", ink)]

    def _subs(self, view: SessionView) -> list[StyledLine]:
        """Returns a line for each sub-agent at work, under the session that started it."""
        subs = living(view)
        stale = self._stale or self._away(view)
        shown = subs if len(subs) <= SUBS_SHOWN + 1 else subs[:SUBS_SHOWN]
        quiet: Token = "off" if stale else "dim"
        lines = []
        for sub in shown:
            line = self.line().add("    ").fit(safe_text(sub.name), 12, quiet).to(17)
            lines.append(line.fit(str(sub.state), 8, quiet).right(f"{count(sub.calls)} ", quiet))
        if len(subs) > len(shown):
            more = count(len(subs) - len(shown))
            lines.append(self.line().add(f"    {more} more sub-agents", quiet))
        return lines

    def _away(self, view: SessionView) -> bool:
        """Returns whether the machine of a session does not answer, where there are several."""
        host = self._state.hosts.get(view.host)
        return host is not None and not host.here

    def _why_lost(self) -> list[StyledLine]:
        """Returns the reasons why machines do not answer, where there are several."""
        lines = []
        for reason in why_lost(self._state):
            words = wrap(reason, 28)
            lines += [self.line(), *(self.line().add(f"  {line}", "dim") for line in words)]
        return lines

    def _why_not(self, live: list[SessionView], place: int) -> list[StyledLine]:
        """Explains why the session under the cursor is not gated, else the newest that is not."""
        view = next(
            (v for v in [*live[place : place + 1], *reversed(live)] if v.gated is False), None
        )
        if view is None:
            return []
        label = cut_name(safe_text(view.label), 14)
        # Whether its hooks are installed and skipped is not known here.
        why = safe_text(view.cause or _ONLY_WATCHED)
        words = wrap(f"{label}: {why}", 28)
        return [self.line(), *(self.line().add(f"  {line}", "dim") for line in words)]

    def _day(self) -> list[StyledLine]:
        lines = [self.line(), self.line().add(f"  {day_words(self._state.totals)}", "dim")]
        ink: Token = "off" if self._stale else "fg"
        for glyph, words, number in today(self._state.totals):
            line = self.line().add(f"  {glyph or ' '} ", ink).add(words, "dim")
            lines.append(line.right(f"{number} ", ink))
        return lines

    def _place(self, live: list[SessionView]) -> int:
        keys = [(view.agent, view.session) for view in live]
        return keys.index(self._key) if self._key in keys else 0


def _window(heights: list[int], place: int, room: int) -> tuple[int, int]:
    """Returns the first session to show and how many fit, with the chosen one among them."""
    if sum(heights) <= room:
        return 0, len(heights)
    first = 0
    while True:
        fit, used = 0, 0
        for height in heights[first:]:
            if used + height > room - 1:
                break
            fit, used = fit + 1, used + height
        fit = max(1, fit)
        if place < first + fit:
            return first, fit
        first += 1
