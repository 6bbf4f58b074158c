"""The tokens of an awk program."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from watchgate.core.patterns.allowance import check
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

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


class Token(msgspec.Struct, frozen=True, gc=False):
    """A token; the `text` of a string is what it means."""

    kind: Kind
    text: str


END = Token("end", "\n")


def tokens(code: str) -> list[Token]:
    """The tokens of a program without its comments.

    Raises:
        Unread: It has something that implementations of awk read in several ways.
    """
    tokens: list[Token] = []
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
            raise Unread(f"has a {code[at]!r} where it is not understood")
        at = match.end()
        kind = match.lastgroup
        if kind == "blank":
            continue
        text = match[kind or ""]
        if text == "(":
            heads.append(bool(tokens) and tokens[-1].text in _HEADS)
        closes_head = text == ")" and bool(heads) and heads.pop()
        if kind == "text":
            tokens.append(Token("text", _ESCAPE.sub(_meant, text)))
        elif kind == "name":
            tokens.append(Token("name", text))
        elif kind == "number":
            tokens.append(Token("number", text))
        else:
            tokens.append(Token("end" if text in ("\n", ";") else "sign", text))
    return tokens


def _slash(code: str, at: int, before: Token, *, closes_head: bool) -> tuple[Token, int]:
    """A regular expression or a division, by what stands before it."""
    if closes_head or before.text == "getline":
        raise Unread("has a slash that may divide or begin an expression")
    is_value = before.kind in ("number", "text", "regex") or before.text in (
        ")",
        "]",
        "$",
        "++",
        "--",
    )
    if is_value or (before.kind == "name" and before.text not in _WORDS_BEFORE_REGEX):
        return Token("sign", "/"), at + 1
    end = at + 1
    while True:
        end = _end(_UNTIL_END, code, end)
        if code[end : end + 1] != "[":
            break
        end = _end(_BRACKET, code, end)
    if code[end : end + 1] != "/":
        raise Unread("has an expression whose end is not certain")
    return Token("regex", code[at + 1 : end]), end + 1


def _end(part: re.Pattern[str], code: str, at: int) -> int:
    match = part.match(code, at)
    if match is None:
        raise Unread("has an expression whose end is not certain")
    return match.end()


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2]:
        return chr(int(escape[2], 8))
    return "" if escape[3] else _SIGNS.get(escape[4], escape[4])


def statements_end(token: Token) -> bool:
    """Tell whether a statement ends with this token."""
    return token.kind == "end" or token.text == "}"
