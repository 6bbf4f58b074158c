"""Edits of files as blocks of rows: every agent's way of saying it.

Line numbers are those of the file where the input tells them (a whole file, an insertion at a
line, a hunk with its numbers); else they count from where the change begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from watchgate.core import tool_input
from watchgate.core.diff.changes import cover_of, patch_lines, patched, replaced
from watchgate.core.diff.rows import Change, Row, numbered
from watchgate.core.events import Tool

_WHOLE = ("content", "contents", "file_text")
_CELLS = ("new_source", "cell_id", "cellId", "cell_number", "edit_mode")
_LINES = ("insert_line", "insertLine", "line")
_ALL = ("replace_all", "replaceAll", "allow_multiple")
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.*)$")
_MOVE = re.compile(r"^\*\*\* Move to: (.*)$")
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_ENDS = ("*** Begin Patch", "*** End Patch")
_DONE = {"Add": "a new file", "Update": "", "Delete": "deletes the whole file"}

UNKNOWN_BEFORE = "the whole file; what is there now is not known"


class Block(msgspec.Struct, frozen=True):
    """Changes in one place of one file; `note` says what the rows do not.

    With `counted` the numbers are those of the file's own lines.
    """

    path: str
    note: str
    rows: tuple[Row, ...]
    counted: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """The lines added and taken away."""
        signs = [row.sign for row in self.rows]
        return signs.count("+"), signs.count("-")


def blocks(tool: Tool, *, bare: bool = False) -> list[Block]:
    """All changes of an edit, in its order; none for calls that edit nothing."""
    if tool.cls != "edit":
        return []
    if patch := tool_input.patch(tool):
        return list(_of_patch(cover_of(bare=bare)(patch)))
    named = tool_input.paths(tool)
    blocks = []
    for part, old, new in tool_input.changing_parts(tool):
        path = _path(part) or (named[0] if len(named) == 1 else "")
        blocks.append(_of_part(part, path, old, new, bare=bare))
    return blocks


def _of_part(
    part: Mapping[str, Any], path: str, old: list[str], new: list[str], *, bare: bool
) -> Block:
    """Build the block of one part of an edit.

    Args:
        part: The part as the agent sent it.
        path: The file that it changes.
        old: The lines that it takes away.
        new: The lines that it puts in.
        bare: Show all lines, folding none away.
    """
    changed = replaced(old, new, bare=bare)
    whole = not old and any(part.get(key) in new for key in _WHOLE)
    line = next((part[key] for key in _LINES if isinstance(part.get(key), int)), None)
    note, at, counted = "", 1, whole
    if whole:
        note = UNKNOWN_BEFORE
    elif not old and line is not None and not isinstance(line, bool):
        note, at, counted = f"put in after line {line}", max(0, line) + 1, True
    elif any(part.get(key) is True for key in _ALL):
        note = "at every place where it stands"
    elif any(key in part for key in _CELLS):
        note = _cell(part)
    return Block(path, note, tuple(numbered(changed, at, at)), counted)


def _cell(part: Mapping[str, Any]) -> str:
    """Describe an edit of a notebook's cell; its old text is not in the input."""
    mode = part.get("edit_mode")
    does = mode if isinstance(mode, str) and mode else "replace"
    names = ("cell_id", "cellId", "cell_number")
    cell = next((part[key] for key in names if isinstance(part.get(key), str | int)), "")
    known = "; what the cell holds now is not known" if does != "insert" else ""
    return f"{does} cell {cell}".rstrip() + known


def _path(part: Mapping[str, Any]) -> str:
    paths = (part.get(key) for key in tool_input.PATH_KEYS)
    return next((path for path in paths if isinstance(path, str) and path), "")


class _Open:
    """The block of a patch that is being read."""

    def __init__(self, path: str = "", note: str = "", old: int = 1, new: int = 1) -> None:
        self.path, self.note, self.old, self.new = path, note, old, new
        self.counted = note == _DONE["Add"]
        self.rows: list[Row] = []
        self._lines: list[Change] = []

    @property
    def begun(self) -> bool:
        """Return whether it holds a line of a change."""
        return bool(self._lines) or any(row.sign != "@" for row in self.rows)

    @property
    def holds(self) -> bool:
        """Return whether it says anything at all."""
        return bool(self.path or self.note or self.rows) or self.begun

    def say(self, text: str) -> None:
        """Take what is about the lines that follow."""
        self._count()
        self.rows.append(Row("@", text))

    def add(self, line: str) -> None:
        """Take a line of the change, or (where it has no sign) one that is about it."""
        if line and line[0] not in "+- ":
            self.say(line)
            return
        sign, text = patched(line)
        self._lines.append((sign, text[1:] if sign == " " else text))

    def block(self) -> Block:
        """Return the block that was read."""
        self._count()
        return Block(self.path, self.note, tuple(self.rows), self.counted)

    def _count(self) -> None:
        more = numbered(self._lines, self.old, self.new)
        self._lines = []
        self.rows += more
        self.old += sum(row.old is not None for row in more)
        self.new += sum(row.new is not None for row in more)


def _of_patch(patch: str) -> Iterator[Block]:
    """The files of a patch and their hunks; a line that is none of it is shown as it stands."""
    now = _Open()
    for line in patch_lines(patch):
        if line in _ENDS:
            continue
        if head := _FILE.match(line):
            if now.holds:
                yield now.block()
            now = _Open(head[2].strip(), _DONE[head[1]])
        elif move := _MOVE.match(line):
            now.note = "; ".join(filter(None, (now.note, f"moved to {move[1].strip()}")))
        elif line.startswith("@@"):
            if now.begun:
                yield now.block()
                now = _Open(now.path)
            if hunk := _HUNK.match(line):
                now.old, now.new, now.counted = int(hunk[1]), int(hunk[2]), True
            if heading := line[hunk.end() if hunk else 2 :].strip():
                now.say(heading)
        else:
            now.add(line)
    if now.holds:
        yield now.block()
