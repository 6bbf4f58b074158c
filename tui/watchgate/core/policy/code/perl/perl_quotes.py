"""The texts and expressions of Perl in their many quotes, and what stands in them by name."""

from __future__ import annotations

import re

import msgspec

from watchgate.core.policy.code.code_reading import UnreadCode

_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_DELIMITERS = frozenset("/|!#{([<~@%^+:'\"")
_FLAGS = {
    "m": re.compile(r"[msixpodualngc]*(?!\w)"),
    "s": re.compile(r"[msixpodualngcer]*(?!\w)"),
    "tr": re.compile(r"[cdsr]*(?!\w)"),
}

# A value in a text: a variable, and what stands behind it in brackets.
_NAME = r"(?:\^\w|\w+(?:(?:::|')\w+)*|\{\^?\w+\}|\$+\w+|\{\$\w+\})"
_VALUE = re.compile(
    rf"""\\(?P<escape>.)
    |\$(?P<scalar>{_NAME})|\$(?P<sign>[&`'+!@/,;."<>-])|@(?P<array>{_NAME})
    |(?P<bad>[$@][\{{:#]|\$[\[\\])
    |\$+(?=\$)""",
    re.VERBOSE | re.DOTALL,
)
_SUBSCRIPT = re.compile(
    r"""(?:->)?(?:\[(?:-?\d+|\$\w+|\$\#\w+|-1)\]|\{(?:\w+|\$\w+|'[^'\\]*'|"[\w ]*")\})""",
    re.VERBOSE,
)
_CODE_IN_EXPRESSION = re.compile(r"\(\?\??p?\{|\(\*\{|\(\?<?[=!]?\{")
_QUANTIFIER = re.compile(r"\{\d*(?:,\d*)?\}|\[[^\]$@(){}'\"`]*\]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b", "f": "\f"}
_CODE_POINT = re.compile(
    r"\\x(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{1,2}))|\\([0-7]{1,3})|\\(.)", re.DOTALL
)


class Quoted(msgspec.Struct, frozen=True):
    """A part in quotes: what stands in it, the sign that opens it, and where it ends."""

    text: str
    opener: str
    end: int


def part(code: str, at: int) -> Quoted:
    """The part whose opening sign stands here."""
    opener = code[at : at + 1]
    if opener not in _DELIMITERS:
        raise UnreadCode("has quotes that are not understood")
    closer = _BRACKETS.get(opener, opener)
    depth, place = 1, at + 1
    while place < len(code):
        sign = code[place]
        if sign == "\\":
            place += 1
        elif sign == closer:
            depth -= 1
            if not depth:
                return Quoted(code[at + 1 : place], opener, place + 1)
        elif sign == opener:
            depth += 1
        place += 1
    raise UnreadCode("has a quote without an end")


def second_part(code: str, first: Quoted) -> Quoted:
    """The other part of a replacement."""
    if first.opener not in _BRACKETS:
        return part(code, first.end - 1)
    at = len(code) - len(code[first.end :].lstrip())
    if code[at : at + 1] not in _BRACKETS:
        raise UnreadCode("has quotes that are not understood")
    return part(code, at)


def flags(kind: str, code: str, at: int) -> str:
    """The letters behind an expression of this kind."""
    match = _FLAGS[kind].match(code, at)
    if match is None:
        raise UnreadCode("has letters behind an expression that are not understood")
    return match[0]


def check_expression(text: str) -> None:
    """Raises `UnreadCode` where an expression runs code."""
    if _CODE_IN_EXPRESSION.search(text):
        raise UnreadCode("runs code within an expression")


def variables(text: str, *, expression: bool = False) -> list[str]:
    """The variables whose values stand in a text; raises `UnreadCode` where it may run code."""
    if expression:
        check_expression(text)
    parts: list[str] = []
    at = 0
    while match := _VALUE.search(text, at):
        at = match.end()
        if match["bad"]:
            raise UnreadCode("runs code within a text")
        name = match["scalar"] or match["array"] or match["sign"]
        if not name:
            continue
        shown = match[0]
        while text[at : at + 1] in ("[", "{") or text.startswith(("->[", "->{"), at):
            subscript = _SUBSCRIPT.match(text, at)
            if subscript is None:
                if expression and _QUANTIFIER.match(text, at) and not text.startswith("[", at):
                    break
                raise UnreadCode("runs code within a text")
            shown += subscript[0]
            at = subscript.end()
        parts.append(shown)
    return parts


def meaning(text: str) -> str | None:
    """Returns the text with its escapes resolved; None where only Perl knows them."""
    parts: list[str] = []
    at = 0
    for escape in _CODE_POINT.finditer(text):
        parts.append(text[at : escape.start()])
        at = escape.end()
        code = escape[1] or escape[2]
        if code:
            parts.append(chr(min(int(code, 16), 0x10FFFF)))
        elif escape[3]:
            parts.append(chr(int(escape[3], 8)))
        elif escape[4].isalnum() and escape[4] not in _ESCAPES:
            return None
        else:
            parts.append(_ESCAPES.get(escape[4], escape[4]))
    return "".join(parts) + text[at:]


def plain_meaning(text: str) -> str:
    """Returns the text that stands between single quotes, its escapes resolved."""
    return re.sub(r"\\([\\'])", r"\1", text)
