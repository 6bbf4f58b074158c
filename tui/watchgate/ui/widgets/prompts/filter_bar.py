"""The filter of a list, read while it is typed; a fault is pointed at, Tab completes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.core.filters.filter_completion import Completions, KnownValues, may_complete, propose
from watchgate.core.filters.filter_fields import ROW_FIELDS
from watchgate.core.filters.filter_parser import Filter, FilterError, parse
from watchgate.core.model.call_row import CallRow
from watchgate.ui.base.formats import DOTS, width
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.prompt import KeyPassed, Prompt, hint
from watchgate.ui.widgets.prompts.text_editing import EditLine

EXAMPLES = ("agent:codex", "risk>=high", "state:denied", "since:2h", '"rm -rf"', "-tool:Read")
_BETWEEN = "   "
_MORE = len(DOTS) + 2


def examples(line: StyledLine, start: int, cells: int) -> StyledLine:
    """Draws the language by example: as many as fit, and the key that lists its keys."""
    line.to(start)
    tail = "Tab lists the keys"
    room = cells - start - width(tail) - len(_BETWEEN)
    for text in EXAMPLES:
        if width(text) + len(_BETWEEN) <= room:
            line.add(text + _BETWEEN, "dim")
            room -= width(text) + len(_BETWEEN)
    return line.fit(tail, max(0, cells - line.left_cells), "dim")


def proposals(
    line: StyledLine, texts: Sequence[str], chosen: int, start: int, cells: int
) -> StyledLine:
    """Draws the texts of which Tab takes one, in accent; those without room are dropped.

    Args:
        line: The line to add to.
        texts: The proposed texts.
        chosen: Index of the one that Tab takes.
        start: The cell to begin at.
        cells: Width of the line.
    """
    line.to(start).add("Tab", "dim")
    first = _first(texts, chosen, cells - line.left_cells)
    if first:
        line.add(" " + DOTS, "dim")
    for number, text in enumerate(texts[first:], first):
        gap = " " if number == first else "  "
        rest = _MORE if number + 1 < len(texts) else 0
        room = cells - line.left_cells - len(gap) - rest
        if number > chosen and width(text) > room:
            return line.add("  " + DOTS, "dim")
        ink: Token = "accent" if number == chosen else "dim"
        line.add(gap).fit(text, max(0, room), ink, bold=number == chosen)
    return line


def _first(texts: Sequence[str], chosen: int, cells: int) -> int:
    """Returns the first text to show, so that the chosen one has room."""
    room = cells - 1 - 2 * _MORE
    first = chosen
    used = width(texts[chosen])
    while first and used + 2 + width(texts[first - 1]) <= room:
        first -= 1
        used += 2 + width(texts[first])
    return first


def fault_line(
    line: StyledLine, fault: FilterError, span: tuple[int, int], cells: int, lead: str
) -> StyledLine:
    """Draws carets under a fault, and the words next to them where there is room.

    Args:
        line: The line to add to.
        fault: The fault.
        span: Its first cell and the one behind its last.
        cells: Width of the line.
        lead: Words before those of the fault.
    """
    start, end = span
    carets, words = "^" * max(1, min(end, cells) - start), lead + fault.message
    after = start + len(carets)
    if cells - after < start:
        line.to(2).fit(words, start - 3, bold=True)
        return line.to(start).add(carets, "accent", bold=True)
    line.to(start).add(carets, "accent", bold=True).add(" ")
    return line.fit(words, cells - line.left_cells, bold=True)


Keep = Callable[[CallRow], bool]
START = 4
RECALLED = 50


def matching(wanted: Filter) -> Keep | None:
    """Returns the test of a table's row that a filter means; None when it keeps everything."""
    return wanted.over(ROW_FIELDS)


class FilterBar(Prompt):
    """Reads a filter; Enter keeps it, Esc clears it. A faulty one changes nothing.

    Tab completes by what is `known`; `since:` is read at `now_us()` (UTC µs). Up and Down bring
    back the filters in `recent`, the newest last, to which what is kept is added.
    """

    DEFAULT_CSS = "FilterBar { height: 2; }"
    reads_ahead = True

    @dataclass
    class Changed(Message):
        """The filter reads so now; `keep` is None when everything is shown."""

        text: str
        keep: Keep | None

    class Left(Message):
        """The operator is done with it."""

    def __init__(
        self,
        text: str = "",
        known: KnownValues | None = None,
        now_us: Callable[[], int] | None = None,
        *,
        recent: list[str] | None = None,
    ) -> None:
        super().__init__()
        self._known = known or KnownValues()
        self._now_us = now_us
        self._recent = recent if recent is not None else []
        self._back, self._draft = 0, text
        self._line = EditLine().typed(text)
        self._reported_text = self._line.text
        self._wanted = Filter()
        self._fault: FilterError | None = None
        self._refused = self._over = False
        self._offered = self._propose()
        self._cycle: tuple[EditLine, int] | None = None

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Enter", "keep"), hint("Esc", "clear"), hint("Tab", "complete"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self._over:
            self.post_message(KeyPassed(event))
            return
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Changed("", None))
            self._leave()
        elif name == "enter":
            self._enter()
        elif name in ("tab", "shift+tab"):
            self._complete(1 if name == "tab" else -1)
        elif name in ("up", "down"):
            self._recall(1 if name == "up" else -1)
        elif (edited := self._line.key(name)) is not None:
            self._read(edited)
        elif event.is_printable and event.character:
            self._read(self._line.typed(event.character))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._read(self._line.typed(event.text))

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        line = self.line().add("  / ", "accent", bold=True)
        room = max(8, cells - START - 1)
        first = self._line.onto(line, room)
        return [line, self._below(first, cells - 1)]

    def _below(self, first: int, cells: int) -> StyledLine:
        line, fault = self.line(), self._fault
        if self._cycle is not None:
            return proposals(line, self._offered.texts, self._cycle[1], START, cells)
        typed = bool(self._line.text.strip())
        if typed and self._offered.texts and (fault is None or self._unfinished(fault)):
            return proposals(line, self._offered.texts, 0, START, cells)
        if fault is None:
            return examples(line, START, cells)
        start = min(START + self._cells(first, fault.position), cells - 1)
        end = max(start + 1, START + self._cells(first, fault.end))
        lead = "not taken: " if self._refused else ""
        return fault_line(line, fault, (start, end), cells, lead)

    def _cells(self, first: int, position: int) -> int:
        text = self._line.text[first : max(first, position)]
        return width(text) + max(0, position - max(first, len(self._line.text)))

    def _unfinished(self, fault: FilterError) -> bool:
        """Returns whether the fault is in what is just being typed."""
        return not self._refused and fault.position >= self._offered.start

    def _enter(self) -> None:
        if self._fault is not None:
            self._refused, self._cycle = True, None
            self.redraw()
            return
        self._post_filter()
        text = self._line.text.strip()
        if text:
            if text in self._recent:
                self._recent.remove(text)
            self._recent.append(text)
            del self._recent[:-RECALLED]
        self._leave()

    def _leave(self) -> None:
        self._over = True
        self.post_message(self.Left())

    def _complete(self, by: int) -> None:
        """Inserts the next proposal, or the previous; the only one is taken for good."""
        offered = self._offered
        if not offered.texts:
            return
        if self._cycle is None:
            before, number = self._line, 0 if by > 0 else len(offered.texts) - 1
        else:
            before, number = self._cycle[0], (self._cycle[1] + by) % len(offered.texts)
        text, at = offered.put(before.text, number)
        self._read(EditLine(text, at))
        if len(offered.texts) > 1:
            self._offered, self._cycle = offered, (before, number)
            self.redraw()

    def _recall(self, by: int) -> None:
        back = self._back + by
        if 0 <= back <= len(self._recent):
            if not self._back:
                self._draft = self._line.text
            text = self._recent[-back] if back else self._draft
            self._read(EditLine(text, len(text)))
            self._back = back

    def _propose(self) -> Completions:
        return propose(self._line.text, self._line.at, self._known)

    def _read(self, line: EditLine) -> None:
        self._line = line
        self._refused, self._cycle, self._back = False, None, 0
        self._offered = self._propose()
        self._fault = None
        try:
            self._wanted = parse(line.text, now_us=self._now_us() if self._now_us else None)
        except FilterError as fault:
            self._fault = fault
        else:
            if not may_complete(line.text, line.at, self._known):
                self._post_filter()
        self.redraw()

    def _post_filter(self) -> None:
        if self._line.text != self._reported_text:
            self._reported_text = self._line.text
            self.post_message(self.Changed(self._reported_text, matching(self._wanted)))
