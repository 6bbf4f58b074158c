"""The top of the Costs screen: sums and rate limits, or usage sources while none is known."""

from __future__ import annotations

from typing import Literal

from watchgate.ui.widgets.pane import Line, Pane

Kind = Literal["connecting", "no-core", "no-usage"]

TELLS = (
    ("Claude Code", "transcripts; cost", "by itself; watchgate install claude"),
    ("Codex", "transcripts, limits", "found by itself"),
    ("OpenCode", "its database; cost", "found by itself"),
    ("Gemini, Qwen", "transcripts", "found by itself"),
    ("over ACP", "cost, tokens, context", "watchgate acp -- AGENT"),
    ("others", "nothing yet", "their sessions stay ?"),
)
"""Agents, what their usage is taken from, and what makes it known."""


class CostEmpty(Pane):
    """A text in the place of the figures."""

    DEFAULT_CSS = "CostEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._kind: Kind = "connecting"

    def show(self, kind: Kind) -> None:
        """Shows one of the states."""
        if kind != self._kind:
            self._kind = kind
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if self._kind == "connecting":
            return self._plain("Attaching to the core.", "Nothing is shown before its picture.")
        if self._kind == "no-core":
            return self._plain("No core answers.", "1 shows what that means for agents.")
        gap = [self.line()] * (2 if rows >= 24 else 1)
        lines = [
            *gap,
            self._text("No usage is known yet.", cells, bold=True),
            self._text("What agents report and their transcripts tell is added up here.", cells),
            self._text("Tokens are priced by a table; what has no price is ?, never $0.", cells),
            *gap,
        ]
        for agent, what, setup in TELLS:
            line = self.line().to(2).add(agent, "fg", bold=True).to(19).add(what, "dim")
            lines.append(line.to(42).fit(setup, cells - 43) if cells >= 72 else line)
        return lines

    def _plain(self, title: str, then: str) -> list[Line]:
        return [self.line(), self._text(title, 80, bold=True), self._text(then, 80)]

    def _text(self, text: str, cells: int, *, bold: bool = False) -> Line:
        return self.line().to(2).fit(text, cells - 3, bold=bold)
