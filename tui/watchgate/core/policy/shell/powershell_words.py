"""The words of a PowerShell command: its own quotes, variables and paths as a shell writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.policy.shell.commands import Expands, Word
from watchgate.core.policy.shell.powershell_grammar import LONG_OPTION
from watchgate.core.policy.shell.script import ScriptSource

if TYPE_CHECKING:
    from watchgate.core.policy.shell.powershell_grammar import Node

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "f": "", "v": "", "e": ""}
_UNREAD_SIGNS = re.compile(r"[\"'`;|&(){}<>]")
_VARIABLE = re.compile(
    r"\$(?:\{(?:env:|global:|script:|local:)?(\w+)\}|(?:env:|global:|script:|local:|using:)?(\w+))",
    re.IGNORECASE | re.ASCII,
)
_CONSTANTS = {"$true": "$true", "$false": "$false", "$null": ""}
_HOMES = ("home", "userprofile")
_PATH = re.compile(r"[\w .:~*?@%+,=(){}\[\]$-]*(?:\\[\w .:~*?@%+,=(){}\[\]$-]*)+")
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)|[A-Za-z]{2,}:(?=\\)")
_EXECUTABLE = re.compile(r"\.(?:exe|cmd|bat|com)$", re.IGNORECASE)


Argument = tuple[Word, ...]
"""One argument: several words where it is a list of values."""


class WordPiece(msgspec.Struct):
    """A part of a word, as long as its places."""

    text: str
    at: list[int]
    expands: Expands = ""


class Unread(ValueError):
    """A word that the grammar reads otherwise than PowerShell may."""


def bare(source: ScriptSource, start: int, end: int) -> WordPiece:
    """A part without quotes."""
    text = source.text[start:end]
    if _UNREAD_SIGNS.search(text):
        if not LONG_OPTION.fullmatch(f" {text}", 1):
            raise Unread
        return _joined(text, source.at[start:end])
    word = _with_variables(text, list(source.at[start:end]))
    if not word.expands and any(each in text for each in "*?["):
        word.expands = "glob"
    return word


def _joined(text: str, at: Sequence[int]) -> WordPiece:
    """A part of which some is in quotes, in which nothing is expanded."""
    open_with = ""
    offsets: list[int] = []
    for index, sign in enumerate(text):
        if sign in "\"'" and open_with in ("", sign):
            open_with = "" if open_with else sign
        else:
            offsets.append(index)
    return WordPiece("".join(text[index] for index in offsets), [at[index] for index in offsets])


def quoted(source: ScriptSource, node: Node) -> WordPiece:
    """The value of a string."""
    start, end = node.start_byte, node.end_byte
    text = source.text[start:end]
    at = list(source.at[start:end])
    if text.startswith("@"):
        inner = slice(text.index("\n") + 1, max(text.rindex("\n"), text.index("\n") + 1))
        text, at, escapes = text[inner], at[inner], text[1] == '"'
        return _unescaped(text, at, '"') if escapes else WordPiece(text, at)
    if text[0] == "'":
        return _undoubled(text[1:-1], at[1:-1])
    return _unescaped(text[1:-1], at[1:-1], '""')


def _undoubled(text: str, at: list[int]) -> WordPiece:
    offsets = [i for i, sign in enumerate(text) if sign != "'" or _runs_evenly(text, i)]
    return WordPiece("".join(text[i] for i in offsets), [at[i] for i in offsets])


def _runs_evenly(text: str, index: int) -> bool:
    """Tells whether a quote is the second of a pair."""
    before = index
    while before and text[before - 1] == "'":
        before -= 1
    return (index - before) % 2 == 1


def _unescaped(text: str, at: list[int], doubled: str) -> WordPiece:
    """An expandable string with its escapes read; what is expanded stays as it is written."""
    value, places, literal = "", [], True
    index = 0
    while index < len(text):
        sign = text[index]
        if sign == "`" and index + 1 < len(text):
            made = _ESCAPES.get(text[index + 1], text[index + 1])
            # A sign that is not expanded must not look as if it were.
            made = "" if made == "$" else made
            index += 2
        elif text.startswith(doubled, index) and len(doubled) == 2:
            made = '"'
            index += 2
        else:
            literal = literal and sign != "$"
            made = sign
            index += 1
        value += made
        places += [at[index - 1]] * len(made)
    return WordPiece(value, places) if literal else _with_variables(value, places)


def _with_variables(text: str, at: list[int]) -> WordPiece:
    """The text with names of variables as a shell has them."""
    if "$" not in text:
        return WordPiece(text, at)
    value, places, done = "", [], 0
    for hit in _VARIABLE.finditer(text):
        name = (hit[1] or hit[2]).lower()
        made = "HOME" if name in _HOMES else name.upper() if ":" in hit[0] else name
        made = f"${{{made}}}" if made not in ("HOME", "pwd") else f"${made.upper()}"
        value += text[done : hit.start()] + made
        places += at[done : hit.start()] + [at[hit.start()]] * len(made)
        done = hit.end()
    return WordPiece(value + text[done:], places + at[done:], "value")


def variable(source: ScriptSource, start: int, end: int) -> WordPiece:
    """A variable that is a whole word, or a part of one."""
    text = source.text[start:end]
    if text.startswith("@"):
        raise Unread
    if (constant := _CONSTANTS.get(text.lower())) is not None:
        return WordPiece(constant, [source.at[start]] * len(constant))
    word = _with_variables(text, list(source.at[start:end]))
    if word.text not in ("$HOME", "$PWD"):
        word.expands = "words"
    return word


def unknown(source: ScriptSource, start: int) -> WordPiece:
    """A part that only the run shows."""
    return WordPiece("${_}", [source.at[start]] * 4, "words")


def added(pieces: Sequence[WordPiece | None], between: str) -> WordPiece | None:
    """The parts one behind the other; None where one of them is not known."""
    text, at = "", list[int]()
    expands: Expands = ""
    for piece in pieces:
        if piece is None or piece.expands == "glob":
            return None
        joint = between if text else ""
        text += joint + piece.text
        at += [*(at[-1:] * len(joint)), *piece.at]
        expands = "value" if piece.expands else expands
    return WordPiece(text, at, expands)


def piece_of(given: Word) -> WordPiece:
    """A word as a part of another one."""
    return WordPiece(given.text, list(given.at), given.expands)


def word(pieces: Sequence[WordPiece], start: int, end: int) -> Word:
    """The word that pieces are together."""
    text = "".join(each.text for each in pieces)
    at = [place for each in pieces for place in each.at]
    expands: Expands = ""
    for rank in ("glob", "value", "words"):
        if any(each.expands == rank for each in pieces):
            expands = rank
    prefix = ""
    for each in pieces:
        if each.expands:
            sign = re.search(r"[$*?\[(@]", each.text)
            prefix += each.text[: sign.start()] if sign else ""
            break
        prefix += each.text
    return as_path(Word(text, tuple(at), start, end, expands, prefix))


def as_path(given: Word) -> Word:
    """The word with `/` between folders where it is a path; the drive `C:` is the folder `/c`."""
    text = given.text
    drive = _DRIVE.match(text)
    if ("\\" not in text and not drive) or ("\\" in text and not _PATH.fullmatch(text)):
        return given
    text, prefix = text.replace("\\", "/"), given.prefix.replace("\\", "/")
    if drive is None:
        return msgspec.structs.replace(given, text=text, prefix=prefix)
    name, length = drive[0][:-1].lower(), drive.end()
    if len(name) == 1 and text[length:] in ("", "/"):
        return msgspec.structs.replace(given, text="/", at=given.at[:1], prefix="/")
    # The letter and its colon are as long as a slash and the letter.
    begun = f"/{name}{prefix[length:]}" if len(prefix) > length else "/"
    return msgspec.structs.replace(given, text=f"/{name}{text[length:]}", prefix=begun)


def program(given: Word) -> Word:
    """The word as a program's name, without the ending that its file has on Windows."""
    ending = _EXECUTABLE.search(given.text)
    if ending is None or given.dynamic:
        return given
    text = given.text[: ending.start()]
    return msgspec.structs.replace(given, text=text, at=given.at[: len(text)], prefix=text)


def listed(given: Word, *, literal: bool) -> Iterator[Word]:
    """The words of a list such as `a,b`; one in quotes is no list."""
    if literal or "," not in given.text or given.text.startswith("-"):
        yield given
        return
    place = 0
    for part in given.text.split(","):
        if part:
            at = given.at[place : place + len(part)]
            prefix = given.prefix[place : place + len(part)]
            start = at[0] if at else given.start
            end = at[-1] + 1 if at else given.end
            yield as_path(Word(part, at, start, end, given.expands, prefix))
        place += len(part) + 1


def made_word(text: str, start: int) -> Word:
    """A word that does not stand in the text, at the place of what it stands for."""
    return Word(text, (start,) * len(text), start, start, "", text)
