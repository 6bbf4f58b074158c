"""Texts under the operator's hands, of one line or of several, and the keys that change them."""

from __future__ import annotations

import msgspec

from watchgate.core.text import safe_text
from watchgate.ui.formats import fitting_end, fitting_start
from watchgate.ui.widgets.pane import Line

LONGEST = 2_000


class EditLine(msgspec.Struct, frozen=True):
    """The text and the cursor's place in it, in characters."""

    text: str = ""
    at: int = 0

    def typed(self, more: str) -> EditLine:
        """Returns the line with a text inserted; line ends become blanks, unseen ones escapes."""
        inserted = (
            safe_text(" ".join(more.split())) if "\n" in more or "\r" in more else safe_text(more)
        )
        text = self.text[: self.at] + inserted + self.text[self.at :]
        return EditLine(text[:LONGEST], min(self.at + len(inserted), LONGEST))

    def key(self, name: str) -> EditLine | None:
        """Returns the line after an editing key; None for a key that edits nothing."""
        start, end = self._moved(name)
        if start is None:
            return None
        if end is None:
            return EditLine(self.text, start)
        return EditLine(self.text[:start] + self.text[end:], start)

    def _moved(self, name: str) -> tuple[int | None, int | None]:
        """Returns where a key puts the cursor, and up to where it deletes from there."""
        text, at = self.text, self.at
        word = text[:at].rstrip().rfind(" ") + 1
        before, after = max(0, at - 1), min(len(text), at + 1)
        moves: dict[str, tuple[int, int | None]] = {
            "left": (before, None),
            "right": (after, None),
            "home": (0, None),
            "ctrl+a": (0, None),
            "end": (len(text), None),
            "ctrl+e": (len(text), None),
            "backspace": (before, at),
            "ctrl+h": (before, at),
            "delete": (at, after),
            "ctrl+u": (0, at),
            "ctrl+k": (at, len(text)),
            "ctrl+w": (word, at),
        }
        return moves.get(name, (None, None))

    def onto(self, line: Line, cells: int) -> int:
        """Draws it into so many cells, the cursor visible; returns the first character drawn."""
        first = self.at - fitting_end(self.text[: self.at], cells - 1)
        shown = self.text[first:]
        shown = shown[: fitting_start(shown, cells - 1)]
        cut = self.at - first
        under = shown[cut : cut + 1] or " "
        line.add(shown[:cut], bold=True).add(under, line.ground, on="accent", bold=True)
        line.add(shown[cut + 1 :], bold=True)
        return first
