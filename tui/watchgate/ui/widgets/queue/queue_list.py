"""The queue: open requests by deadline, and below them the newest settled with their endings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo

import msgspec
from textual.events import Click
from textual.message import Message

from watchgate.core.base.text import safe_text
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.views import PendingView, Settled
from watchgate.core.state.asked_call import line_of
from watchgate.core.tools.summary import in_columns
from watchgate.ui.approval.consequences import seconds_left
from watchgate.ui.approval.decision_requests import SCOPES
from watchgate.ui.base.formats import (
    clock,
    covered,
    cut,
    cut_front,
    cut_name,
    person,
    short_id,
    width,
)
from watchgate.ui.base.theme import RISK_GLYPH, Token
from watchgate.ui.source.agent_titles import title
from watchgate.ui.widgets.base.countdown import words_right
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_words import ASKED, subject_token

_OPERATOR = re.compile(r"operator (?P<name>.*?)(?: \([^()]*\))?", re.DOTALL)

ENDING_CELLS = 21
"""The room beside the time in a list of 38 cells."""


def ending_words(ended: Settled, cells: int = ENDING_CELLS) -> str:
    """Returns the words for a request's end, with the decider's name if it fits."""
    word = ended.word
    if word not in ENDINGS:
        return safe_text(word)
    plain = ENDINGS[word].label
    match word:
        case "allowed-by-operator":
            return _first(cells, f"{plain} by {_who(ended)}{_reach(ended)}", plain + _reach(ended))
        case "denied-by-operator" if ended.reason:
            return f"{plain}, with reply"
        case "denied-by-operator" | "answered-by-operator" | "handed-back-by-operator":
            return _first(cells, f"{plain} by {_who(ended)}", plain)
        case "answered-elsewhere" if ended.agent and ended.agent != "acp":
            return _first(cells, f"answered in {title(ended.agent)}", plain)
    return plain


def _who(ended: Settled) -> str:
    """Returns the name alone of `operator ana (console 2)`."""
    match = _OPERATOR.fullmatch(ended.by)
    return safe_text((match["name"] if match else ended.by) or "an operator")


def _reach(ended: Settled) -> str:
    """Returns the words for an allow's scope; a word of a later version stays as it is."""
    known = next((words for scope, words in SCOPES.items() if scope == ended.scope), "")
    return f", {known or safe_text(ended.scope)}"


def _first(cells: int, *words: str) -> str:
    """Returns the first that fits, else the last."""
    return next((each for each in words if width(each) <= cells), words[-1])


GLYPH, TEXT = 2, 6
TOOL_CELLS = 9
MARKED = "marked"
_LONGEST = 400


def pending_lines(
    lines: Sequence[StyledLine],
    asked: PendingView,
    cells: int,
    left_s: float | None,
    *,
    chosen: bool,
    marked: bool,
    stale: bool,
) -> None:
    """Writes who asks and how long silence has, below it what for.

    Args:
        lines: The two lines to write.
        asked: The request.
        cells: Width of the lines.
        left_s: Seconds until silence decides, None where that is not known.
        chosen: Whether the cursor is on it.
        marked: Whether it is marked.
        stale: Whether the core is lost.
    """
    first, second = lines
    data = asked.data
    name: Token = "off" if stale else "fg"
    first.add(">" if chosen else " ", "off" if stale else "accent", bold=True).to(GLYPH)
    risk = data.asks == "approval"
    loud = not risk or data.risk not in ("low", "medium")
    glyph = RISK_GLYPH.get(data.risk, "!!") if risk else ASKED
    first.add(glyph, "off" if stale else subject_token(data), bold=loud and not stale).to(TEXT)
    if not stale:
        words_right(first, person(left_s) if left_s is not None else "-", left_s)
    first.right(" ")
    tool, call = in_columns(data.tool.name, data.summary, TOOL_CELLS)
    first.fit(safe_text(tool[:40]), TOOL_CELLS, name, bold=not stale).add("  ")
    ident = short_id(asked.id)
    room = cells - first.left_cells - first.right_cells - len(ident) - 3
    first.add(cut_name(safe_text(asked.label[:80]), max(3, room)), name, bold=not stale)
    first.add(f"  {ident}", "off" if stale else "dim")
    if marked:
        second.right(f"{MARKED} ", name, bold=True)
    room = cells - TEXT - 1 - (second.right_cells + 1 if marked else 0)
    _summary(second.to(TEXT), data.tool.cls, call, room, name)


def settled_lines(
    lines: Sequence[StyledLine], ended: Settled, cells: int, *, zone: tzinfo | None, stale: bool
) -> None:
    """Writes what a settled request was about, below it when and how it ended.

    Args:
        lines: The two lines to write.
        ended: The request.
        cells: Width of the lines.
        zone: Time zone of the clock time, None for the local one.
        stale: Whether the core is lost.
    """
    first, second = lines
    glyph = ENDINGS[ended.word].glyph if ended.word in ENDINGS else "?"
    first.to(GLYPH).add(glyph, "off" if stale else "fg", bold=not stale).to(TEXT)
    summary, dots = cut(covered(line_of(ended)[:_LONGEST]), cells - TEXT - 1)
    first.add(summary, "off" if stale else "fg").add(dots, "dim")
    at = f"{clock(ended.at, zone)}  "
    second.to(TEXT).add(at, "off" if stale else "dim")
    room = cells - second.left_cells - 1
    second.fit(ending_words(ended, room), room, "off" if stale else "dim")


def _summary(line: StyledLine, cls: str, summary: str, cells: int, ink: Token) -> None:
    """Adds what is asked for; of a path the end, which names it best."""
    text = covered(summary[:_LONGEST])
    if cls in ("edit", "read"):
        line.add(cut_front(text, cells), ink)
    else:
        line.fit(text, cells, ink)


HEAD = 2
"""A section's title, and the empty line below it."""

TALL = 3
FLAT = 2
"""The lines of an entry, with and without an empty one below it."""

AIRY_FROM = 26


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the queue at `now_us` (UTC µs): open requests by deadline, newest settled.

    `chosen` is the id of the one under the cursor, `marked` are the ids of those marked; `stale`
    says that no core answers, so that no time is known.
    """

    now_us: int = 0
    pending: tuple[PendingView, ...] = ()
    settled: tuple[Settled, ...] = ()
    chosen: str = ""
    marked: frozenset[str] = frozenset()
    stale: bool = False


class Queue(Pane):
    """The list of requests; its cursor is the docked one, and only the operator moves it."""

    DEFAULT_CSS = "Queue { width: 38; height: 1fr; }"

    ground = "s1"

    class Chosen(Message):
        """A request was clicked."""

        def __init__(self, request: str) -> None:
            super().__init__()
            self.request = request

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._view = QueueView()
        self._key: object = None
        self._top = 0
        self._places: list[tuple[str, int]] = []

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """The requests that are visible, each with the line where it begins."""
        return self._places

    def show(self, view: QueueView) -> None:
        """Shows this queue; draws again only when a line would look different."""
        times = [seconds_left(each.data, view.now_us) for each in view.pending]
        seconds = () if view.stale else tuple(t if t is None else int(t) for t in times)
        key = (msgspec.structs.replace(view, now_us=0), seconds)
        if key != self._key:
            self._key, self._view = key, view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        view = self._view
        lines = [self._head(view), self.line()]
        room = rows - HEAD
        tall = rows >= AIRY_FROM and len(view.pending) * TALL - 1 <= room
        each = TALL if tall else FLAT
        fits = len(view.pending) * each - tall <= room
        fitting = len(view.pending) if fits else max(1, (room - 1) // each)
        place = next((n for n, one in enumerate(view.pending) if one.id == view.chosen), 0)
        last = len(view.pending) - fitting
        self._top = max(0, min(max(self._top, place - fitting + 1), place, last))
        self._places = []
        for asked in view.pending[self._top : self._top + fitting]:
            self._places.append((asked.id, len(lines)))
            lines += [*self._entry(asked, cells), *([self.line()] if tall else [])]
        if not view.pending:
            lines += [self.line().to(2).add("nothing waits", "dim"), self.line()]
        if not fits:
            lines.append(self._others(self._top, len(view.pending) - self._top - fitting))
            return lines
        return lines + self._settled(cells, rows - len(lines), airy=rows >= AIRY_FROM)

    def on_click(self, event: Click) -> None:
        for request, line in self._places:
            if line <= event.y < line + FLAT:
                self.post_message(self.Chosen(request))

    def _head(self, view: QueueView) -> StyledLine:
        """Returns the title, with what silence does to all of them, if it does the same to each."""
        line = self.line().to(2).add("queue", "dim")
        if not view.pending:
            return line
        if view.stale:
            return line.right("as last seen ", "dim")
        denied = all(each.data.silence == "deny" for each in view.pending)
        return line.right("denied in " if denied else "silence ends in ", "dim")

    def _entry(self, asked: PendingView, cells: int) -> list[StyledLine]:
        view = self._view
        chosen = asked.id == view.chosen
        ground = "sel" if chosen and not view.stale else "s2" if chosen else self.ground
        lines = [self.line(ground), self.line(ground)]
        marked = asked.id in view.marked
        left_s = None if view.stale else seconds_left(asked.data, view.now_us)
        pending_lines(lines, asked, cells, left_s, chosen=chosen, marked=marked, stale=view.stale)
        return lines

    def _others(self, above: int, below: int) -> StyledLine:
        """Returns the line with the numbers of those that are not visible, above and below."""
        sides = [f"+{above} above"] * bool(above) + [f"+{below} more"] * bool(below)
        return self.line().to(6).add(", ".join(sides), "dim")

    def _settled(self, cells: int, room: int, *, airy: bool) -> list[StyledLine]:
        """Returns the settled ones that fit whole below the queue, under a title of their own."""
        ended = self._view.settled
        each = TALL if airy else FLAT
        count = min(len(ended), (room - 1 - HEAD + airy) // each)
        if count < 1:
            return []
        lines = [self.line(), self.line().to(2).add("settled", "dim"), self.line()]
        for one in ended[:count]:
            pair = [self.line(), self.line()]
            settled_lines(pair, one, cells, zone=self._zone, stale=self._view.stale)
            lines += [*pair, *([self.line()] if airy else [])]
        return lines
