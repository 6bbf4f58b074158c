"""Texts under the operator's hands, of one line or of several, and the keys that change them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from rich.cells import cell_len

from watchgate.core.base.text import safe_text
from watchgate.core.secrets.secret_finder import secrets
from watchgate.ui.base.ascii_only import spelled
from watchgate.ui.base.formats import fitting_end, fitting_start
from watchgate.ui.widgets.base.pane import StyledLine

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
        """Returns the place where a key puts the cursor, and the end of what it deletes."""
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

    def onto(self, line: StyledLine, cells: int) -> int:
        """Draws it into so many cells, the cursor visible; returns the first character drawn."""
        first = self.at - fitting_end(self.text[: self.at], cells - 1)
        shown = self.text[first:]
        shown = shown[: fitting_start(shown, cells - 1)]
        cut = self.at - first
        under = shown[cut : cut + 1] or " "
        line.add(shown[:cut], bold=True).add(under, line.ground, on="accent", bold=True)
        line.add(shown[cut + 1 :], bold=True)
        return first


_ACROSS_LINES = ("left", "right", "backspace", "ctrl+h", "delete")


class EditText(msgspec.Struct, frozen=True):
    """The text and the cursor's place in it, in characters.

    What cannot be seen is drawn as an escape and stays what it is.
    """

    text: str
    at: int = 0

    def typed(self, more: str) -> EditText:
        """Returns the text with another inserted; a lone surrogate, never sent, becomes `?`."""
        inserted = more.replace("\r\n", "\n").replace("\r", "\n")
        inserted = inserted.encode("utf-8", "replace").decode()
        return EditText(
            self.text[: self.at] + inserted + self.text[self.at :], self.at + len(inserted)
        )

    def key(self, name: str) -> EditText | None:
        """Returns the text after an editing key; None for a key that edits nothing."""
        if name == "ctrl+j":
            return self.typed("\n")
        if name in ("up", "down"):
            return self._to_line(-1 if name == "up" else +1)
        text, at = self.text, self.at
        start, end = (0, len(text)) if name in _ACROSS_LINES else (self._start, self._end)
        line = EditLine(text[start:end], at - start).key(name)
        if line is None:
            return None
        return EditText(text[:start] + line.text + text[end:], start + line.at)

    def rows(self, cells: int, *, bare: bool = True) -> tuple[list[str], tuple[int, int, int]]:
        """Returns the rows at a width, and the cursor: its row, start and end of its cell there.

        The row has a blank for a cursor at the end of a line. Unless they are shown `bare`, secrets
        are drawn as what they are, and a cursor inside of one stands on the whole of it.
        """
        rows: list[str] = []
        cursor = (0, 0, 1)
        row, taken = "", 0
        for start, end, shown in self._units(bare=bare):
            here = start <= self.at < max(end, start + 1)
            drawn = shown or (" " if here else "")
            if taken and taken + cell_len(drawn) > cells:
                rows.append(row)
                row, taken = "", 0
            if here:
                cursor = (len(rows), len(row), len(row) + len(drawn))
            row += drawn
            taken += cell_len(drawn)
            if not shown:
                rows.append(row)
                row, taken = "", 0
        return rows, cursor

    def _units(self, *, bare: bool) -> Iterator[tuple[int, int, str]]:
        """Yields what is drawn as one: a character or a masked secret, as start, end and text.

        A line's end is drawn as nothing.
        """
        at = 0
        for secret in () if bare else secrets(self.text):
            yield from self._characters(at, secret.start)
            yield secret.start, secret.end, secret.shown
            at = secret.end
        yield from self._characters(at, len(self.text))
        yield len(self.text), len(self.text), ""

    def _characters(self, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        for at in range(start, end):
            character = self.text[at]
            yield at, at + 1, "" if character == "\n" else spelled(safe_text(character))

    @property
    def _start(self) -> int:
        return self.text.rfind("\n", 0, self.at) + 1

    @property
    def _end(self) -> int:
        line_end = self.text.find("\n", self.at)
        return len(self.text) if line_end < 0 else line_end

    def _to_line(self, by: int) -> EditText:
        start = self._start
        if by < 0:
            first = self.text.rfind("\n", 0, max(0, start - 1)) + 1
            last = start - 1
        else:
            first = self._end + 1
            line_end = self.text.find("\n", first)
            last = len(self.text) if line_end < 0 else line_end
        if last < 0 or first > len(self.text):
            return self
        return EditText(self.text, min(first + self.at - start, last))
