"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.prompt import Prompt
from watchgate.ui.widgets.request.command_text import plain

AIRY_ROWS = 30
"""From so many rows of the screen on an empty row stands above and below."""

LONGEST = 3
"""Rows of an explanation; `watchgate unlock` has longer ones."""


class ExplainedPrompt(Prompt):
    """The first line is what is asked; below it stands its `sentences`, dim, in a few rows.

    The most important comes first; a later sentence that does not fit whole is left out.
    """

    DEFAULT_CSS = "ExplainedPrompt { height: 2; }"

    def __init__(self, *sentences: str) -> None:
        super().__init__()
        self._sentences = tuple(each for each in sentences if each)

    def draw_first(self, cells: int) -> Line:
        """Returns the line that asks."""
        raise NotImplementedError

    def explanation(self, cells: int) -> Sequence[str]:
        """Returns the sentences below it."""
        return self._sentences

    def on_mount(self) -> None:
        self._fit(self.app.size.width)

    def _fit(self, cells: int) -> None:
        airy = 2 if self.app.size.height >= AIRY_ROWS else 0
        rows = len(_rows(self._sentences, cells, LONGEST))
        self.styles.height = max(1, min(1 + rows + airy, self.room))

    def draw(self, cells: int, rows: int) -> list[Line]:
        explanation = self.explanation(cells)
        loud = explanation != self._sentences
        texts = _rows(explanation, cells, max(0, min(LONGEST, rows - 1)))
        lines = [self.draw_first(cells), *(self._below(each, loud=loud) for each in texts)]
        airy = rows >= len(lines) + 1 and self.app.size.height >= AIRY_ROWS
        return [self.line(), *lines] if airy else lines

    def _below(self, text: str, *, loud: bool) -> Line:
        return self.line().add(f"  {text}", "fg" if loud else "dim", bold=loud)


def _rows(sentences: Sequence[str], cells: int, row_limit: int) -> list[str]:
    """Returns the sentences that fit whole into so many rows, the first of them in any case."""
    room = max(8, cells - 4)
    text = ""
    for each in sentences:
        more = f"{text} {each}".lstrip()
        if not text or len(plain(more, room)) <= row_limit:
            text = more
    rows = plain(text, room)[:row_limit] if text else ()
    return ["".join(piece.text for piece in row) for row in rows]
