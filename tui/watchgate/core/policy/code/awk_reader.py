"""Awk read for what it does besides printing: what it runs, writes and reads by itself.

- The tokens of an awk program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import (
    Argv,
    CodeReading,
    Piece,
    UnknownWord,
    UnreadCode,
    gathered,
)
from watchgate.core.policy.shell.commands import names

Kind = Literal["name", "number", "text", "regex", "sign", "end"]

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\r?\n|\#[^\n]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |"(?P<text>(?:[^"\\\n]|\\[^\n]|\\\n)*)"
    |(?P<sign>\|\||\|&|&&|>>|\*\*=?|[-+*%^<>=!]=|\+\+|--|!~|[-+*%^<>=!~|?:,;{}()\[\]$\n])""",
    re.VERBOSE,
)
_UNTIL_END = re.compile(r"(?:[^/\\\[\n]|\\[^\n])*")
# An implementation that ends the expression at a slash in brackets finds an error in it.
_BRACKET = re.compile(r"\[\^?\]?(?:[^\]\\\n\[]|\\[^\n]|\[:\w{1,9}:\]|\[(?!:))*\]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(\n)|(.))")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
# Behind these a slash begins an expression of its own.
_WORDS_BEFORE_REGEX = names("print printf return in case if while else do exit delete BEGIN END")
_HEADS = names("if while for switch")


class AwkToken(msgspec.Struct, frozen=True, gc=False):
    """A token; the `text` of a string is what it means."""

    kind: Kind
    text: str


END = AwkToken("end", "\n")


def tokens(code: str) -> list[AwkToken]:
    """The tokens of a program without its comments.

    Raises:
        UnreadCode: It has something that implementations of awk read in several ways.
    """
    tokens: list[AwkToken] = []
    heads: list[bool] = []
    closes_head = False
    at = 0
    while at < len(code):
        check()
        if code[at] == "/":
            token, at = _slash(code, at, tokens[-1] if tokens else END, closes_head=closes_head)
            tokens.append(token)
            continue
        match = _TOKEN.match(code, at)
        if match is None:
            raise UnreadCode(f"has a {code[at]!r} where it is not understood")
        at = match.end()
        kind = match.lastgroup
        if kind == "blank":
            continue
        text = match[kind or ""]
        if text == "(":
            heads.append(bool(tokens) and tokens[-1].text in _HEADS)
        closes_head = text == ")" and bool(heads) and heads.pop()
        if kind == "text":
            tokens.append(AwkToken("text", _ESCAPE.sub(_meant, text)))
        elif kind == "name":
            tokens.append(AwkToken("name", text))
        elif kind == "number":
            tokens.append(AwkToken("number", text))
        else:
            tokens.append(AwkToken("end" if text in ("\n", ";") else "sign", text))
    return tokens


def _slash(code: str, at: int, before: AwkToken, *, closes_head: bool) -> tuple[AwkToken, int]:
    """A regular expression or a division, by what stands before it."""
    if closes_head or before.text == "getline":
        raise UnreadCode("has a slash that may divide or begin an expression")
    is_value = before.kind in ("number", "text", "regex") or before.text in (
        ")",
        "]",
        "$",
        "++",
        "--",
    )
    if is_value or (before.kind == "name" and before.text not in _WORDS_BEFORE_REGEX):
        return AwkToken("sign", "/"), at + 1
    end = at + 1
    while True:
        end = _end(_UNTIL_END, code, end)
        if code[end : end + 1] != "[":
            break
        end = _end(_BRACKET, code, end)
    if code[end : end + 1] != "/":
        raise UnreadCode("has an expression whose end is not certain")
    return AwkToken("regex", code[at + 1 : end]), end + 1


def _end(part: re.Pattern[str], code: str, at: int) -> int:
    match = part.match(code, at)
    if match is None:
        raise UnreadCode("has an expression whose end is not certain")
    return match.end()


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2]:
        return chr(int(escape[2], 8))
    return "" if escape[3] else _SIGNS.get(escape[4], escape[4])


def statements_end(token: AwkToken) -> bool:
    """Tells whether a statement ends with this token."""
    return token.kind == "end" or token.text == "}"


# They change what the program reads, or name its functions and variables by texts.
_HIDDEN = names("ARGV ARGC SYMTAB FUNCTAB")
_STANDARD = names("/dev/stdout /dev/stderr /dev/null /dev/stdin -")
_BEFORE_OPERAND = names("( { } , = && || ! ; : ? while if do else print printf return")


def read(code: str) -> CodeReading:
    """Returns the commands that this awk program amounts to."""
    return gathered(lambda: _AwkReader(tokens(code)).commands(), "an awk program")


class _AwkReader:
    def __init__(self, tokens: list[AwkToken]) -> None:
        self._tokens = tokens

    def _at(self, place: int) -> AwkToken:
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def commands(self) -> Iterator[Argv]:
        """Returns the program's actions, as commands."""
        prints_within: int | None = None
        depth = 0
        for place, token in enumerate(self._tokens):
            if token.kind == "name":
                if token.text in ("print", "printf"):
                    prints_within = depth
                yield from self._named(place, token.text)
                continue
            if token.kind not in ("sign", "end"):
                continue
            depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
            prints = prints_within is not None and depth <= prints_within
            if token.text in ("|", "|&"):
                yield self._piped(place, prints=prints)
            elif token.text in (">", ">>") and prints:
                yield from self._written(place)
            if statements_end(token):
                prints_within = None

    def _named(self, place: int, name: str) -> Iterator[Argv]:
        """Returns the commands that a function or a variable of awk amounts to."""
        if name in _HIDDEN:
            raise UnreadCode(f"uses {name}")
        if name == "system":
            yield ("sh", "-c", self._argument(place + 1))
        elif name == "ENVIRON":
            yield self._environment(place)
        elif name == "getline":
            yield from self._line_of(place)

    def _piped(self, place: int, *, prints: bool) -> Argv:
        """The command on one side of a pipe."""
        if self._at(place + 1).text == "getline" and self._at(place + 1).kind == "name":
            before = self._at(place - 2)
            alone = before.kind == "end" or before.text in _BEFORE_OPERAND
            text = self._constant(place - 1) if alone else None
            return ("sh", "-c", UnknownWord() if text is None else text)
        if not prints:
            raise UnreadCode("has a pipe where it is not understood")
        return ("sh", "-c", self._last_operand(place + 1))

    def _written(self, place: int) -> Iterator[Argv]:
        target = self._last_operand(place + 1)
        if isinstance(target, str):
            if target.startswith("/inet"):
                raise UnreadCode("connects to the network")
            if target in _STANDARD:
                return
        yield ("tee", "-a", target) if self._at(place).text == ">>" else ("tee", target)

    def _line_of(self, place: int) -> Iterator[Argv]:
        """The file that a line is read from, which stands behind a variable."""
        after = place + 1
        while self._at(after).kind == "name" or self._at(after).text == "$":
            after += 1
        if self._at(after).text == "[":
            raise UnreadCode("reads a line into a table")
        if self._at(after).text == "<":
            text = self._constant(after + 1)
            if text is not None and text.startswith("/inet"):
                raise UnreadCode("connects to the network")
            follows = self._at(after + 2)
            alone = statements_end(follows) or follows.text in (")", ">", "&&", "||")
            if text is None or not alone:
                yield ("cat", UnknownWord())
            elif text not in _STANDARD:
                yield ("cat", text)

    def _environment(self, place: int) -> Argv:
        if self._at(place + 1).text == "[" and self._at(place + 3).text == "]":
            text = self._constant(place + 2)
            if text is not None:
                return ("printenv", text)
        return ("printenv",)

    def _argument(self, place: int) -> Piece:
        """The only argument of a function whose bracket stands here."""
        if self._at(place).text == "(" and self._at(place + 2).text == ")":
            text = self._constant(place + 1)
            if text is not None:
                return text
        return UnknownWord()

    def _last_operand(self, place: int) -> Piece:
        """The operand that begins here, where the statement ends with it."""
        text = self._constant(place)
        return text if text is not None and statements_end(self._at(place + 1)) else UnknownWord()

    def _constant(self, place: int) -> str | None:
        token = self._at(place)
        # An option or an operand may set any variable, so that only a text itself is certain.
        return token.text if token.kind == "text" else None
