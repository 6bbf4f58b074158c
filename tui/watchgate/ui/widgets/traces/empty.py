"""One call's hooks as a waterfall with the chosen handler below, or how to add a hook."""

from __future__ import annotations

from typing import Literal

from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line, Pane

Kind = Literal["connecting", "no-core", "no-trace"]

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
        return self._no_trace(airy=rows >= 24, cells=cells)

    def _plain(self, title: str, then: str) -> list[Line]:
        return [self.line(), self._text(title, bold=True), self._text(then)]

    def _no_trace(self, *, airy: bool, cells: int) -> list[Line]:
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

    def _text(self, words: str, *, bold: bool = False) -> Line:
        return self.line().to(2).add(words, "fg" if bold else "dim", bold=bold)
