"""The filter of the table, read while it is typed; a fault is pointed at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.core.filters import Filter, FilterError, parse
from watchgate.core.views import CallRow
from watchgate.ui.formats import width
from watchgate.ui.keymap import Hint, name_of
from watchgate.ui.widgets.edit_line import EditLine
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompt import Prompt, hint

Keep = Callable[[CallRow], bool]
START = 4


def matching(wanted: Filter) -> Keep | None:
    """The test of a table's row that a filter means; None when it keeps everything."""
    if not wanted.terms:
        return None
    return lambda row: wanted.matches(
        {
            "agent": row.agent,
            "session": row.label,
            "tool": row.tool,
            "kind": "tool.pre",
            "risk": row.risk,
            "state": row.stage,
            "request": row.request or "",
            "text": row.summary,
        }
    )


class FilterBar(Prompt):
    """Reads a filter; Enter keeps it, Esc clears it. A faulty one changes nothing."""

    DEFAULT_CSS = "FilterBar { height: 2; }"

    @dataclass
    class Changed(Message):
        """The filter reads so now; `keep` is None when everything is shown."""

        text: str
        keep: Keep | None

    class Left(Message):
        """The operator is done with it."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._line = EditLine(text, len(text))
        self._fault: FilterError | None = None

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Enter", "keep"), hint("Esc", "clear"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Changed("", None))
            self.post_message(self.Left())
        elif name == "enter" and self._fault is None:
            self.post_message(self.Left())
        elif (edited := self._line.key(name)) is not None:
            self._read(edited)
        elif event.is_printable and event.character:
            self._read(self._line.typed(event.character))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._read(self._line.typed(event.text))

    def draw(self, cells: int, rows: int) -> list[Line]:
        line = self.line().add("  / ", "accent", bold=True)
        room = max(8, cells - START - 1)
        first = self._line.onto(line, room)
        return [line, self._below(first, room, cells)]

    def _below(self, first: int, room: int, cells: int) -> Line:
        fault = self._fault
        if fault is None:
            hint = 'risk:high  session:api-fix  tool:Bash  state:denied  "rm -rf"  -agent:gemini'
            return self.line().to(START).fit(hint, cells - START - 1, "dim")
        before = self._line.text[first : max(first, fault.position)]
        caret = START + min(width(before), room - 1)
        line = self.line()
        if cells - caret < caret:
            return line.to(START).fit(str(fault), caret - START - 1, bold=True).to(caret).add("^")
        line.to(caret).add("^ ", bold=True)
        return line.fit(str(fault), cells - line.left_cells - 1, bold=True)

    def _read(self, line: EditLine) -> None:
        changed, self._line = line.text != self._line.text, line
        try:
            wanted = parse(line.text)
        except FilterError as fault:
            self._fault = fault
        else:
            self._fault = None
            if changed:
                self.post_message(self.Changed(line.text, matching(wanted)))
        self.redraw()
