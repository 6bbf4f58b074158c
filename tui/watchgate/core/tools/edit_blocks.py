"""Edits of files as blocks of rows: every agent's way of saying it.

Line numbers are those of the file where the input tells them (a whole file, an insertion at a
line, a hunk with its numbers); else they count from where the change begins.

- Edits as lines taken away and lines added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

import msgspec
from msgspec import json

from watchgate.core.model.events import Tool
from watchgate.core.model.records import RequestData
from watchgate.core.secrets.redact import redact
from watchgate.core.secrets.secret_finder import secrets
from watchgate.core.tools import tool_input
from watchgate.core.tools.diff_rows import Change, DiffRow, Sign, numbered

COMPARED_LINES = 100
"""Above so many lines two texts are shown one after the other: comparing them can take seconds."""


def replaced(old: list[str], new: list[str], *, bare: bool = False) -> list[Change]:
    """The lines of one change: compared, where it is one text in place of another.

    Secrets are covered unless `bare`: here, since one may be of many lines.
    """
    if len(old) == len(new) == 1:
        return difference(_ended(old[0]), _ended(new[0]), bare=bare)
    cover = cover_of(bare=bare)
    gone, come = ([cover(_ended(text)) for text in texts] for texts in (old, new))
    return [*_lines("-", gone), *_lines("+", come)]


def rewritten(data: RequestData, *, bare: bool = False) -> list[Change]:
    """Returns the changes that a handler or an operator made to the agent's input."""
    if data.before is None:
        return []
    before = msgspec.structs.replace(data.tool, input=data.before)
    return difference(_as_json(before), _as_json(data.tool), bare=bare)


def difference(before: str, after: str, *, bare: bool = False) -> list[Change]:
    """The lines of a text that were taken away, added and kept on the way to another.

    Lines are compared as they are, so that one secret in place of another is a change.
    """
    if not bare and (_has_multiline_secret(before) or _has_multiline_secret(after)):
        return [*_lines("-", [redact(before)]), *_lines("+", [redact(after)])]
    old, new = before.split("\n"), after.split("\n")
    same = _alike(old, new)
    tail = _alike(old[same:][::-1], new[same:][::-1])
    stop_old, stop_new = len(old) - tail, len(new) - tail
    return [
        *_lines(" ", old[:same]),
        *_compared(old[same:stop_old], new[same:stop_new]),
        *_lines(" ", old[stop_old:]),
    ]


def patch_lines(patch: str) -> list[str]:
    """The lines of a patch, which end at LF or CR LF alone: nothing else in them is taken away."""
    return [line.removesuffix("\r") for line in patch.removesuffix("\n").split("\n")]


def patched(line: str) -> Change:
    """A line of a patch by its sign; what has none is told as it stands."""
    if line[:1] == "+":
        return "+", line[1:]
    return ("-", line[1:]) if line[:1] == "-" else (" ", line)


def cover_of(*, bare: bool) -> Callable[[str], str]:
    """Returns the function that covers a text's secrets, or with `bare` leaves them."""
    return _as_it_is if bare else redact


def _alike(old: list[str], new: list[str]) -> int:
    """Counts the lines that two texts have in common at their beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))


def _compared(old: list[str], new: list[str]) -> list[Change]:
    if len(old) + len(new) > COMPARED_LINES:
        return [*_lines("-", old), *_lines("+", new)]
    changes: list[Change] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            changes += _lines(" ", old[a:b])
        else:
            changes += [*_lines("-", old[a:b]), *_lines("+", new[c:d])]
    return changes


def _ended(text: str) -> str:
    """The text without the newline that ends its last line: no empty line follows it."""
    return text.removesuffix("\n")


def _as_json(tool: Tool) -> str:
    """The command where only that is to be told, else the whole input."""
    rest = {key: value for key, value in tool.input.items() if key != "command"}
    command = tool.input.get("command")
    rest_text = json.format(json.encode(rest), indent=2).decode() if rest else ""
    return "\n".join(
        [*([command] if isinstance(command, str) else []), *([rest_text] if rest_text else [])]
    )


def _has_multiline_secret(text: str) -> bool:
    """Returns whether a secret in the text has several lines: it is covered as a whole."""
    return any("\n" in text[each.start : each.end] for each in secrets(text))


def _as_it_is(text: str) -> str:
    return text


def _lines(sign: Sign, texts: Iterable[str]) -> Iterator[Change]:
    for text in texts:
        for line in text.split("\n"):
            yield sign, line.removesuffix("\r")


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


class EditBlock(msgspec.Struct, frozen=True):
    """Changes in one place of one file; `note` says what the rows do not.

    With `counted` the numbers are those of the file's own lines.
    """

    path: str
    note: str
    rows: tuple[DiffRow, ...]
    counted: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """The lines added and taken away."""
        signs = [row.sign for row in self.rows]
        return signs.count("+"), signs.count("-")


def blocks(tool: Tool, *, bare: bool = False) -> list[EditBlock]:
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
) -> EditBlock:
    """Builds the block of one part of an edit.

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
    return EditBlock(path, note, tuple(numbered(changed, at, at)), counted)


def _cell(part: Mapping[str, Any]) -> str:
    """Describes an edit of a notebook's cell; its old text is not in the input."""
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
        self.rows: list[DiffRow] = []
        self._lines: list[Change] = []

    @property
    def begun(self) -> bool:
        """Returns whether it holds a line of a change."""
        return bool(self._lines) or any(row.sign != "@" for row in self.rows)

    @property
    def holds(self) -> bool:
        """Returns whether it says anything at all."""
        return bool(self.path or self.note or self.rows) or self.begun

    def say(self, text: str) -> None:
        """Takes what is about the lines that follow."""
        self._count()
        self.rows.append(DiffRow("@", text))

    def add(self, line: str) -> None:
        """Takes a line of the change, or (where it has no sign) one that is about it."""
        if line and line[0] not in "+- ":
            self.say(line)
            return
        sign, text = patched(line)
        self._lines.append((sign, text[1:] if sign == " " else text))

    def block(self) -> EditBlock:
        """Returns the block that was read."""
        self._count()
        return EditBlock(self.path, self.note, tuple(self.rows), self.counted)

    def _count(self) -> None:
        more = numbered(self._lines, self.old, self.new)
        self._lines = []
        self.rows += more
        self.old += sum(row.old is not None for row in more)
        self.new += sum(row.new is not None for row in more)


def _of_patch(patch: str) -> Iterator[EditBlock]:
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
