"""One call's hooks as a waterfall with the chosen handler below, or how to add a hook."""

from __future__ import annotations

from datetime import tzinfo
from typing import Literal

from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from watchgate.core.base.amounts import plural
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.traces import TracedCall
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.traces.trace_detail import conclusion, detail_lines
from watchgate.ui.widgets.traces.waterfall import DispatchBlocks, head_lines, places

TraceEmptyKind = Literal["connecting", "no-core", "no-trace"]

SNIPPET = """\
[[handler]]
id = "no-force-push"
on = ["tool.pre"]
match = { tool = "Bash", command_contains = "push --force" }
command = ["./guard.sh"]
timeout_s = 5
"""


class TraceEmpty(Pane):
    """A text in the place of the traces."""

    DEFAULT_CSS = "TraceEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._kind: TraceEmptyKind = "connecting"

    def show(self, kind: TraceEmptyKind) -> None:
        """Shows one of the states."""
        if kind != self._kind:
            self._kind = kind
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if self._kind == "connecting":
            return self._plain("Attaching to the core.", "Nothing is shown before its picture.")
        if self._kind == "no-core":
            return self._plain("No core answers.", "1 shows what that means for agents.")
        return self._no_trace(airy=rows >= 24, cells=cells)

    def _plain(self, title: str, then: str) -> list[StyledLine]:
        return [self.line(), self._text(title, bold=True), self._text(then)]

    def _no_trace(self, *, airy: bool, cells: int) -> list[StyledLine]:
        gap = [self.line()]
        wide = [self.line()] * (2 if airy else 1)
        return [
            *(wide if airy else gap),
            self._text("No hook has been asked yet.", bold=True),
            self._text("The next tool call that passes the gate appears here: who was asked,"),
            self._text("what each said, how long it took, and who was left out and why."),
            *wide,
            self._text("A hook is a program of yours. It reads the event as JSON and can deny"),
            self._text("the call, rewrite it, or ask you. If it crashes or is late, that denies."),
            *gap,
            *(self.line().to(5).add(line) for line in SNIPPET.splitlines()),
            *gap,
            self.line().to(2).add(key_for("copy"), "accent", bold=True)
            .add("  copies these lines for the file")
            .add(" `watchgate config path`", bold=True).add(" names.", "fg"),
            self._text("A core reads the file when it starts."),
        ]  # fmt: skip

    def _text(self, words: str, *, bold: bool = False) -> StyledLine:
        return self.line().to(2).add(words, "fg" if bold else "dim", bold=bold)


WHEEL = 3
AIRY_FROM = 26
MIN_DETAIL_ROWS = 5


class TracePage(Pane):
    """Everything about one call's hooks; the cursor is on one handler.

    Where not all of it fits, the handlers around the cursor stay in view and the text about the
    chosen one is scrolled.
    """

    DEFAULT_CSS = "TracePage { height: 1fr; width: 1fr; }"

    class Entered(Message):
        """A handler was chosen with the mouse."""

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._call: TracedCall | None = None
        self._row: CallRow | None = None
        self._chosen = 0
        self._active = False
        self._offset = 0
        self._rows_at: dict[int, int] = {}

    def show(self, call: TracedCall | None, row: CallRow | None) -> None:
        """Shows the hooks of this call; `row` is the call's row, where that is in memory."""
        if (call, row) == (self._call, self._row):
            return
        if call is None or self._call is None or call.key != self._call.key:
            self._chosen, self._offset = _first(call), 0
        self._call, self._row = call, row
        self.redraw()

    def activate(self, *, active: bool) -> None:
        """Sets whether the keys that move belong to the handlers."""
        if active != self._active:
            self._active = active
            self.redraw()

    def move(self, by: int) -> None:
        """Chooses another handler, no further than the first or last."""
        known = len(places(self._call)) if self._call else 0
        chosen = min(max(0, self._chosen + by), max(0, known - 1))
        if chosen != self._chosen:
            self._chosen, self._offset = chosen, 0
            self.redraw()

    def page(self, pages: int) -> None:
        """Scrolls the text about the chosen handler."""
        self._offset = max(0, self._offset + pages * MIN_DETAIL_ROWS)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        call = self._call
        if call is None:
            return []
        known = places(call)
        self._chosen = min(self._chosen, max(0, len(known) - 1))
        blocks = DispatchBlocks(call, cells, self.inks, chosen=self._chosen, active=self._active)
        head = head_lines(call, self._row, cells, self.inks, self._zone)
        below: list[StyledLine] = []
        if known:
            place = known[self._chosen]
            airy = rows >= AIRY_FROM
            below = detail_lines(place.row, place.data, cells, self.inks, airy=airy)
        end = conclusion(call, self._row, cells, self.inks)
        air = 2 if rows >= AIRY_FROM else 1
        while air and len(head) + len(blocks.lines) + len(below) + len(end) + 3 * air > rows:
            air -= 1
        gap, apart = [self.line()] * air, [self.line()] * max(1, air)
        fixed = len(head) + len(end) + 2 * air + len(apart)
        window = self._window(blocks, rows - fixed - min(len(below), MIN_DETAIL_ROWS))
        lines = [*head, *gap]
        self._rows_at = {
            len(lines) + at - window.start: number
            for number, at in enumerate(blocks.at)
            if at in window
        }
        lines += blocks.lines[window.start : window.stop]
        cut = len(blocks.lines) - len(window)
        lines += [self._more(cut), *apart[1:]] if cut else apart
        lines += self._part(below, rows - fixed - len(window))
        return [*lines, *gap, *end]

    def on_click(self, event: Click) -> None:
        number = self._rows_at.get(event.y)
        if number is not None:
            self.post_message(self.Entered())
            self.move(number - self._chosen)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.page(-1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.page(+1)

    def _more(self, cut: int) -> StyledLine:
        """Returns the line with the rest of the waterfall, and how to get there."""
        line = self.line().to(2).add(f"+{plural(cut, 'line')}", "dim")
        return line.add(self._reach("down", "up"), "accent", bold=True)

    def _reach(self, *actions: str) -> str:
        """Returns the keys that move here, after the one that goes here if that is needed."""
        keys = actions if self._active else ("detail", *actions)
        return f"   {' '.join(map(key_for, keys))}"

    def _window(self, blocks: DispatchBlocks, room: int) -> range:
        """Returns the visible lines of the waterfall: all, or those around the chosen handler."""
        count = len(blocks.lines)
        room = max(1, room)
        if count <= room:
            return range(count)
        at = blocks.at[self._chosen] if blocks.at else 0
        first = min(max(0, at - room // 2), count - room)
        return range(first, first + room)

    def _part(self, lines: list[StyledLine], room: int) -> list[StyledLine]:
        """Returns as much of the text about a handler as fits, from where it is scrolled."""
        room = max(0, room)
        if len(lines) <= room:
            self._offset = 0
            return lines
        self._offset = min(self._offset, len(lines) - room)
        end = self._offset + room
        shown = lines[self._offset : end]
        if shown and end < len(lines):
            more = self.line().to(2).add(f"+{plural(len(lines) - end + 1, 'line')}", "dim")
            more.add(self._reach("page_down"), "accent", bold=True)
            shown[-1] = more
        return shown


def _first(call: TracedCall | None) -> int:
    """Returns the handler to choose at first: the slowest, for that is why one looks."""
    known = places(call) if call else []
    return max(
        range(len(known)), key=lambda number: known[number].row.duration_ms or 0.0, default=0
    )
