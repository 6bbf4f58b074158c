"""Words with their quotes removed, read from the text itself and held against the tree.

The grammar hands words out raw. What the shell would make of them is worked out here, and where
the text shows an expansion that the tree does not know of, or the other way round, the text is
opaque.

- Brace expansion: `a{b,c}d` becomes `abd acd` before anything else of the word is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.shell.commands import Expands, Word
from watchgate.core.policy.shell.script import Notes, ScriptSource

MAX_WORDS = 64

_RANGE = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?")


class Letter(msgspec.Struct, frozen=True, gc=False):
    """A piece of a word whose quotes are removed; `mark` is an unquoted brace or comma."""

    text: str
    at: Sequence[int]
    expands: Expands = ""
    mark: str = ""


def expanded(letters: list[Letter]) -> list[list[Letter]] | None:
    """The words that the pieces of one word stand for; None where there are too many."""
    if sum(letter.mark == "{" for letter in letters) > MAX_WORDS:
        return None
    words: list[list[Letter]] = [[]]
    index = 0
    while index < len(letters):
        close = _closing(letters, index) if letters[index].mark == "{" else None
        choices = _choices(letters[index + 1 : close]) if close else None
        if close is None or choices is None:
            choices, close = [[letters[index]]], index
        words = [word + choice for word in words for choice in choices]
        if len(words) > MAX_WORDS:
            return None
        index = close + 1
    return words


def _closing(letters: list[Letter], start: int) -> int | None:
    depth = 0
    for index in range(start, len(letters)):
        depth += {"{": 1, "}": -1}.get(letters[index].mark, 0)
        if not depth:
            return index
    return None


def _choices(letters: list[Letter]) -> list[list[Letter]] | None:
    """Returns the choices in braces: each part between commas, or a range; None for neither."""
    parts: list[list[Letter]] = [[]]
    depth = 0
    for letter in letters:
        depth += {"{": 1, "}": -1}.get(letter.mark, 0)
        if letter.mark == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(letter)
    if len(parts) == 1:
        return _range(letters)
    choices: list[list[Letter]] = []
    for part in parts:
        inner = expanded(part)
        if inner is None or len(choices) > MAX_WORDS:
            return [[Letter("", (), "words")]] * (MAX_WORDS + 1)
        choices += inner
    return choices


def _range(letters: list[Letter]) -> list[list[Letter]] | None:
    match = _RANGE.fullmatch("".join(letter.text for letter in letters))
    if not match or any(letter.expands or letter.mark for letter in letters):
        return None
    ends = match[1], match[2]
    if ends[0].isalpha() != ends[1].isalpha():
        return None
    first, last = (ord(end) if end.isalpha() else int(end) for end in ends)
    step = max(1, abs(int(match[3] or 1)))
    values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(values) > MAX_WORDS:
        return [[Letter("", (), "words")]]
    position = letters[0].at[:1]
    width = max(map(len, ends)) if any(re.match(r"-?0\d", end) for end in ends) else 0
    texts = (chr(value) if match[1].isalpha() else str(value).zfill(width) for value in values)
    return [[Letter(text, tuple(position) * len(text))] for text in texts]


Expansions = Mapping[int, tuple[int, Expands, Expands]]
"""Expansions by their start: the end, and what they become outside and inside of double quotes."""

_RUN = re.compile(r"[^\\'\"$`*?\[{},<>()|&; \t\n]+")
_QUOTED_RUN = re.compile(r"[^\\\"$`]+")
_NAMED = re.compile(r"[A-Za-z0-9_@*#?$!({-]")
_CODE = re.compile(r"\$\(|`|\[\$")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_NAMED = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f",
    "v": "\v",
}  # fmt: skip
_DISAGREE = "Could be split into words in another way than it was read"


def decode(
    source: ScriptSource, start: int, end: int, expansions: Expansions, notes: Notes
) -> list[Word]:
    """The words that the shell makes of one written word: one, or several with braces.

    Args:
        source: The text that the word stands in.
        start: Its first character there.
        end: The character behind it.
        expansions: What expansions of the text become.
        notes: Where remarks on the whole text are put.
    """
    lexer = _WordLexer(source, start, end, expansions, notes)
    lexer.word()
    letters, first, last = lexer.letters, *source.position(start, end)
    spread = expanded(letters) if lexer.braces else [letters]
    if spread is None:
        notes.doubt("Stands for more words than anybody reads")
        spread = [letters]
    return [_word(each, first, last) for each in spread]


def _word(letters: list[Letter], start: int, end: int) -> Word:
    text = "".join(letter.text for letter in letters)
    at: list[int] = []
    prefix = 0
    kinds: set[Expands] = set()
    for letter in letters:
        at += letter.at
        if letter.expands:
            kinds.add(letter.expands)
        elif not kinds:
            prefix += len(letter.text)
    kind: Expands = next((k for k in ("words", "glob", "value") if k in kinds), "")
    return Word(text, tuple(at), start, end, kind, text[:prefix])


class _WordLexer:
    def __init__(
        self, source: ScriptSource, start: int, end: int, expansions: Expansions, notes: Notes
    ) -> None:
        """Prepares to read one word.

        Args:
            source: The text that the word stands in.
            start: Its first character there.
            end: The character behind it.
            expansions: What expansions of the text become.
            notes: Where remarks on the whole text are put.
        """
        self.text = source.text
        self.at = source.at
        self.pos = start
        self.end = end
        self.expansions = expansions
        self.notes = notes
        self.letters: list[Letter] = []
        self.braces = False

    def add(self, start: int, end: int, expands: Expands = "", mark: str = "") -> None:
        piece = Letter(self.text[start:end], self.at[start:end], expands, mark)
        self.letters.append(piece)
        self.pos = end

    def literal(self, text: str, position: int) -> None:
        self.letters.append(Letter(text, (self.at[position],) * len(text)))

    def word(self) -> None:
        while self.pos < self.end:
            run = _RUN.match(self.text, self.pos, self.end)
            if run:
                self.add(*run.span())
            else:
                self.special(self.text[self.pos])
        if self.pos > self.end:
            self.notes.doubt(_DISAGREE)

    def special(self, char: str) -> None:
        check()
        pos = self.pos
        if pos in self.expansions:
            end, kind, _ = self.expansions[pos]
            self.add(pos, end, kind)
        elif char == "\\":
            self.escaped()
        elif char == "'":
            self.single_quoted()
        elif char == '"':
            self.pos += 1
            self.double_quoted()
        elif char == "$":
            self.dollar()
        elif char in "*?" or (char == "[" and "]" in self.text[pos : self.end]):
            self.add(pos, pos + 1, "glob")
        elif char in "{,}":
            self.braces |= char == "{"
            self.add(pos, pos + 1, "", char)
        else:
            if char != "[":
                self.notes.doubt(_DISAGREE)
            self.add(pos, pos + 1)

    def escaped(self) -> None:
        if self.pos + 1 >= self.end:
            self.notes.doubt(_DISAGREE)
        elif (char := self.text[self.pos + 1]) != "\n":
            self.notes.hides_code |= char in "$`"
            self.literal(char, self.pos)
        self.pos += 2

    def single_quoted(self) -> None:
        close = self.text.find("'", self.pos + 1, self.end)
        if close < 0:
            self.notes.doubt("Has a quote without an end")
            close = self.end
        self.notes.hides_code |= bool(_CODE.search(self.text, self.pos, close))
        self.add(self.pos + 1, close)
        self.pos = close + 1

    def dollar(self) -> None:
        following = self.text[self.pos + 1 : self.pos + 2] if self.pos + 1 < self.end else ""
        if following == "'":
            self.ansi_quoted()
        elif following == '"':
            self.pos += 2
            self.double_quoted()
        else:
            self.plain_dollar(following)

    def plain_dollar(self, following: str) -> None:
        if following and _NAMED.match(following):
            self.notes.doubt(_DISAGREE)
        self.add(self.pos, self.pos + 1)

    def double_quoted(self) -> None:
        """Text in which only `$`, back-ticks and some escapes mean something."""
        self.letters.append(Letter("", ()))
        while self.pos < self.end:
            pos, char = self.pos, self.text[self.pos]
            if pos in self.expansions:
                end, _, kind = self.expansions[pos]
                self.add(pos, end, kind)
            elif char == '"':
                self.pos += 1
                return
            elif char == "\\":
                self.escaped_in_quotes(self.text[pos + 1 : pos + 2])
            elif char == "$":
                following = self.text[pos + 1 : pos + 2]
                self.plain_dollar("" if following == '"' else following)
            elif char == "`":
                self.notes.doubt(_DISAGREE)
                self.add(pos, pos + 1)
            elif run := _QUOTED_RUN.match(self.text, pos, self.end):
                self.add(*run.span())
        self.notes.doubt("Has a quote without an end")

    def escaped_in_quotes(self, following: str) -> None:
        if following in ("$", "`"):
            self.notes.hides_code = True
        if following in ("$", "`", '"', "\\"):
            self.literal(following, self.pos)
            self.pos += 2
        elif following == "\n":
            self.pos += 2
        else:
            self.add(self.pos, self.pos + 1)

    def ansi_quoted(self) -> None:
        self.pos += 2
        while self.pos < self.end and self.text[self.pos] != "'":
            match = _ANSI.match(self.text, self.pos, self.end)
            text = _ansi_character(match) if match else self.text[self.pos]
            self.notes.hides_code |= text in ("$", "`")
            self.literal(text, self.pos)
            self.pos = match.end() if match else self.pos + 1
        if self.pos >= self.end:
            self.notes.doubt("Has a quote without an end")
        self.pos += 1


def _ansi_character(match: re.Match[str]) -> str:
    hexadecimal, unicode, long, octal, control, plain = match.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if hexadecimal or unicode or long:
        code = int(hexadecimal or unicode or long, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    if control:
        return chr(ord(control) & 0x1F)
    return _ANSI_NAMED.get(plain, plain if plain in "\\'\"?" else "\\" + plain)
