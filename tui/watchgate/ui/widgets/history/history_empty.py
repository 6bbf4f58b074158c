"""The History screen while it has no call to show, and what helps."""

from __future__ import annotations

import msgspec

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine

LEFT = 2


class EmptyReason(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why no call is shown: nobody answered, still looking, or no call passes.

    `lost` and `fault` say that nobody answered. `relaxed` are conditions of the filter, with how
    many calls pass without each (or more).
    """

    looking: bool = False
    lost: bool = False
    fault: str = ""
    narrowed: str = ""
    records: int = 0
    relaxed: tuple[tuple[str, int, bool], ...] = ()


class HistoryEmpty(Pane):
    """A text in the place of the calls."""

    DEFAULT_CSS = "HistoryEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._why = EmptyReason()

    def show(self, why: EmptyReason) -> None:
        """Shows why there is no call."""
        if why != self._why:
            self._why = why
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        why = self._why
        if why.lost:
            lines = [
                self._text("No core answers.", cells, bold=True),
                self._text("The journal is safe on its disk; it is read once a core runs.", cells),
                self._text("1 shows what that means for agents.", cells, dim=True),
            ]
        elif why.fault:
            lines = [
                self._text("The history could not be read.", cells, bold=True),
                self._text(f"{why.fault}.", cells),
                self._text("Agents are gated as before; nothing was changed.", cells, dim=True),
            ]
        elif why.looking:
            lines = [self._text("Looking through the journal.", cells, dim=True)]
        elif why.narrowed:
            lines = self._no_match(cells)
        else:
            lines = [
                self._text("No call has been recorded yet.", cells, bold=True),
                self._text("Every tool call of a connected agent stays here: what it was,", cells),
                self._text("what became of it, and by whose word.", cells),
                self.line(),
                self._key(key_for("install"), "how to connect an agent"),
            ]
        return [*self._filter(cells), *([self.line()] if rows > len(lines) + 2 else []), *lines]

    def _filter(self, cells: int) -> list[StyledLine]:
        narrowed = self._why.narrowed
        if not narrowed:
            return []
        line = (
            self.line()
            .to(LEFT)
            .add("/ ", "accent", bold=True)
            .right(f"{key_for('back')} clears ", "dim")
        )
        room = cells - line.left_cells - line.right_cells - 2
        return [line.fit(safe_text(narrowed), room, bold=True), self.line()]

    def _no_match(self, cells: int) -> list[StyledLine]:
        why = self._why
        looked = f"All {count(why.records)} records were looked at."
        lines = [self._text("No recorded call passes this filter.", cells, bold=True),
                 self._text(looked, cells), self.line()]  # fmt: skip
        if why.relaxed:
            lines.append(self._text("One condition less finds some:", cells, dim=True))
        for term, passing, more in why.relaxed:
            line = self.line().to(LEFT).add("without ", "dim")
            calls = (
                f"{count(passing)}{' or more' if more else ''} call{'' if passing == 1 else 's'}"
            )
            line.fit(safe_text(term), max(8, cells - 34), bold=True)
            lines.append(line.add(f"   {calls}", "fg"))
        if why.relaxed:
            lines.append(self.line())
        return [
            *lines,
            self._key(key_for("filter"), "changes the filter"),
            self._key(key_for("back"), "clears it"),
        ]

    def _text(self, text: str, cells: int, *, bold: bool = False, dim: bool = False) -> StyledLine:
        line = self.line().to(LEFT)
        return line.fit(text, cells - LEFT - 1, "dim" if dim else "fg", bold=bold)

    def _key(self, key: str, does: str) -> StyledLine:
        return self.line().to(LEFT).add(key, "accent", bold=True).add(f"  {does}")
