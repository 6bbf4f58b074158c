"""What the shell scanner fills while it reads, and the escapes of `$'...'`."""

from __future__ import annotations

import re

import msgspec

from watchgate.core.policy.words import Redirect, Script, Simple, Word

ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b", "E": "\x1b"}


class Draft(msgspec.Struct):
    """A simple command while it is read; here-documents arrive after its line."""

    words: list[Word] = []
    redirects: list[Redirect] = []
    documents: list[Word] = []
    groups: list[Script] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was read yet."""
        return not (self.words or self.redirects or self.documents or self.groups)

    def frozen(self) -> Simple:
        """The finished command."""
        return Simple(
            tuple(self.words), tuple(self.redirects), tuple(self.documents), tuple(self.groups)
        )


class Heredoc(msgspec.Struct):
    """A here-document that was announced and whose body is still to come."""

    draft: Draft
    delimiter: Word
    quoted: bool
    strip_tabs: bool


class Letters(msgspec.Struct):
    """A word while it is read."""

    start: int
    chars: list[str] = []
    at: list[int] = []
    inner: list[Script] = []
    dynamic: bool = False

    def add(self, text: str, position: int) -> None:
        """Append characters that all stand at one position of the original text."""
        self.chars += text
        self.at += [position] * len(text)

    def word(self, end: int) -> Word:
        """The finished word, which ends before `end` in the original text."""
        return Word(
            "".join(self.chars), tuple(self.at), self.start, end, self.dynamic, tuple(self.inner)
        )


def ansi_character(match: re.Match[str]) -> str:
    """The character that one match of `ANSI_ESCAPE` stands for."""
    hexadecimal, unicode, octal, plain = match.groups()
    if octal:
        return chr(int(octal, 8))
    if hexadecimal or unicode:
        return chr(int(hexadecimal or unicode, 16))
    return _ANSI_NAMED.get(plain, plain)
