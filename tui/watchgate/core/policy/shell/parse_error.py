"""The cause of a text that no shell can read, and its place: quotes, brackets and words unclosed.

It is asked only about texts that the grammar could not read, and looks at no more than quotes,
brackets, here-documents, the signs between commands and the words that open and close blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from watchgate.core.base.text import Span

if TYPE_CHECKING:
    from watchgate.core.policy.shell.grammar import Node


class ParseError(NamedTuple):
    """The fault in a text, as a sentence, and the part of the text that it begins with."""

    cause: str
    span: Span


_PIECE = re.compile(
    r"""(?P<blank>[ \t]+|\\\n|(?<![^\s;&|()])\#[^\n]*)
    | (?P<line>\n)
    | <<(?P<tabs>-?)(?!<)[ \t]*(?P<document>(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s'"\\;&|<>()])+)
    | (?P<redirect>[0-9]*(?:<<<|<>|>>|>\||<&|>&|&>>|&>|<<-?|(?<![<>])[<>](?!\()))
    | (?P<sign>\|\||&&|\|&|;;&|;&|;;|[|;&])
    | (?P<open>[$<>]\(|\()
    | (?P<close>\))
    | (?P<word>(?:[^\s;&|<>()'"`\\$]|\\.|\$(?![({'"]))+)
    | (?P<quote>\$?['"]|`|\$\{)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {"'": "single quote", '"': "double quote", "`": "back-tick", "${": "${"}
_SINGLE = re.compile(r"[^']*'")
_ESCAPING = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_ENDS = {
    "(": ")", "=(": ")", "$(": ")", "<(": ")", ">(": ")", "{": "}",
    "if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac",
}  # fmt: skip
_FIRST = {
    "if": "then", "while": "do", "until": "do", "for": "do", "select": "do", "case": "in",
}  # fmt: skip
_OPENING = frozenset(("{", *_FIRST))
_CLOSING = frozenset(("}", "fi", "done", "esac"))
_NAMING = frozenset(("for", "select", "case"))
_BEFORE_COMMANDS = frozenset(("!", "time", "coproc", "function"))
_JOINS = frozenset(("&&", "||", "|", "|&"))
# Going through more takes longer than telling the fault is worth.
_MAX_CHARS = 4_000
_MAX_DEPTH = 40


def misread(root: Node, at: Sequence[int]) -> Span | None:
    """The first part of a text that the grammar could not read."""
    node = root
    while not node.is_error:
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            break
        node = inner
    start, end = node.start_byte, node.end_byte
    return (at[start], at[end - 1] + 1) if start < end else None


def parse_error(text: str, at: Sequence[int]) -> ParseError | None:
    """The first fault in a text; None where nothing that is looked at is wrong.

    `at` gives each character's position in the text that is shown.
    """
    if len(text) > _MAX_CHARS:
        return None
    try:
        _Commands(text, at, 0).read("")
    except _Fault as fault:
        start, end = fault.span
        return ParseError(str(fault), (at[start], at[end - 1] + 1))
    return None


class _Fault(Exception):
    def __init__(self, cause: str, span: Span) -> None:
        super().__init__(cause)
        self.span = span


class _Sign(NamedTuple):
    text: str
    span: Span


class _Block:
    """An open bracket or block, with the word that has to come in it first.

    In a case, `at_pattern` says that patterns follow and no command.
    """

    def __init__(self, name: str, span: Span) -> None:
        self.name = name
        self.span = span
        self.end = _ENDS[name]
        self.awaited = _FIRST.get(name, "")
        self.at_pattern = False


class _Commands:
    """Reads commands up to the sign that ends them.

    `begins` says that a word may be one that opens or closes a block, `bare` that no command has
    come since the last sign, and `wanting` is a sign that wants something behind it.
    """

    def __init__(self, text: str, at: Sequence[int], depth: int) -> None:
        self.text = text
        self.at = at
        self.depth = depth
        self.pos = 0
        self.blocks: list[_Block] = []
        self.documents: list[tuple[str, bool, Span]] = []
        self.begins = self.bare = True
        self.names_function = False
        self.wanting: _Sign | None = None
        self.readers: dict[str, Callable[[_Sign], None]] = {
            "line": self.line,
            "redirect": self.redirect,
            "sign": self.sign,
            "open": self.open,
            "close": self.close,
            "word": self.word,
            "quote": self.quote,
            "other": self.other,
        }

    def read(self, until: str, start: int = 0) -> int:
        """The position behind the commands; -1 where the text ends before they do."""
        self.pos = start
        while self.pos < len(self.text):
            if until and not self.blocks and self.text.startswith(until, self.pos):
                self.satisfied()
                return self.pos + len(until)
            match = _PIECE.match(self.text, self.pos)
            if match is None:
                break
            self.pos = match.end()
            kind = match.lastgroup or ""
            if kind == "document":
                name = re.sub(r"['\"\\]", "", match["document"])
                self.documents.append((name, bool(match["tabs"]), match.span()))
                self.other(_Sign("", match.span()))
            elif kind != "blank":
                self.readers[kind](_Sign(match[0], match.span()))
        self.skip_documents()
        if until:
            return -1
        self.satisfied()
        if self.blocks:
            raise self.unclosed(self.blocks[-1])
        return self.pos

    @property
    def block(self) -> _Block | None:
        return self.blocks[-1] if self.blocks else None

    def place(self, span: Span) -> str:
        return f"character {self.at[span[0]] + 1}"

    def opened(self, block: _Block) -> str:
        return f"{block.name} at {self.place(block.span)}"

    def unexpected(self, sign: _Sign, more: str = "") -> _Fault:
        return _Fault(f"Unexpected {sign.text} at {self.place(sign.span)}{more}", sign.span)

    def unclosed(self, block: _Block) -> _Fault:
        wanted = block.awaited or ("a pattern or esac" if block.name == "case" else block.end)
        cause = f"Expected {wanted} for the {self.opened(block)}"
        if block.end == ")":
            cause = f"Unclosed {block.name.lstrip('=')} from {self.place(block.span)}"
        return _Fault(cause, block.span)

    def satisfied(self) -> None:
        """Finds fault with a sign that has nothing behind it."""
        if self.wanting is not None:
            text, span = self.wanting
            wanted = "command" if text in _JOINS else "file"
            raise _Fault(f"Expected a {wanted} after {text} at {self.place(span)}", span)

    def push(self, name: str, span: Span) -> None:
        if len(self.blocks) + self.depth >= _MAX_DEPTH:
            raise _Fault("Is nested deeper than anybody reads", span)
        self.blocks.append(_Block(name, span))

    def comes(self, *, begins: bool = False, bare: bool = False) -> None:
        self.begins, self.bare, self.wanting = begins, bare, None

    def other(self, _: _Sign) -> None:
        self.comes()

    def line(self, _: _Sign) -> None:
        self.skip_documents()
        if self.wanting is None or self.wanting.text not in _JOINS:
            self.satisfied()
        self.begins = self.bare = True

    def redirect(self, sign: _Sign) -> None:
        if self.wanting is not None and self.wanting.text not in _JOINS:
            self.satisfied()
        self.comes()
        self.wanting = sign

    def sign(self, sign: _Sign) -> None:
        block = self.block
        in_case = block is not None and block.name == "case"
        if sign.text in (";;", ";&", ";;&"):
            if block is None or not in_case:
                raise self.unexpected(sign, ", outside of a case")
            block.at_pattern = True
        elif self.wanting is not None:
            cause = f"Expected a command between {self.wanting.text} and {sign.text}"
            raise _Fault(cause, sign.span)
        elif self.bare and not in_case:
            cause = f"Expected a command before {sign.text} at {self.place(sign.span)}"
            raise _Fault(cause, sign.span)
        self.comes(begins=True, bare=True)
        self.wanting = sign if sign.text in _JOINS else None

    def open(self, sign: _Sign) -> None:
        start = sign.span[0]
        is_list = sign.text == "(" and self.text[start - 1 : start] == "="
        self.push("=(" if is_list else sign.text, sign.span)
        self.comes(begins=not is_list, bare=True)

    def close(self, sign: _Sign) -> None:
        self.satisfied()
        block = self.block
        if block is None:
            raise self.unexpected(sign, ", which nothing opens")
        if block.name == "case":
            block.at_pattern = False
            self.comes(begins=True, bare=True)
        elif block.end != ")":
            raise self.unexpected(sign, f"; expected {block.end} for the {self.opened(block)}")
        else:
            self.blocks.pop()
            # The body of a function may follow.
            self.comes(begins=block.name == "(")

    def word(self, sign: _Sign) -> None:
        block, text = self.block, sign.text
        if block is not None and block.name == "case" and block.awaited:
            if text == "in":
                block.awaited, block.at_pattern = "", True
            self.comes()
        elif block is not None and block.at_pattern and text != "esac":
            self.comes()
        elif self.names_function:
            self.names_function = False
            self.comes(begins=True)
        elif self.begins or (block is not None and block.at_pattern):
            self.first(sign, block)
        else:
            self.comes()

    def first(self, sign: _Sign, block: _Block | None) -> None:
        """Reads a word where a command may begin."""
        text = sign.text
        if text in _OPENING:
            self.push(text, sign.span)
            self.comes(begins=text not in _NAMING, bare=True)
        elif text in ("then", "do"):
            if block is None or block.awaited != text:
                raise self.unexpected(sign)
            block.awaited = ""
            self.comes(begins=True, bare=True)
        elif text in ("else", "elif"):
            if block is None or block.name != "if" or block.awaited:
                raise self.unexpected(sign)
            block.awaited = "then" if text == "elif" else ""
            self.comes(begins=True, bare=True)
        elif text in _CLOSING:
            self.end(sign, block)
        else:
            self.names_function = text == "function"
            self.comes(begins=text in _BEFORE_COMMANDS, bare=text == "!")

    def end(self, sign: _Sign, block: _Block | None) -> None:
        if block is None:
            raise self.unexpected(sign)
        if block.end != sign.text:
            raise self.unexpected(sign, f"; expected {block.end} for the {self.opened(block)}")
        if block.awaited:
            cause = f"Expected {block.awaited} before {sign.text} at {self.place(sign.span)}"
            raise _Fault(cause, sign.span)
        self.blocks.pop()
        # Another one may end there: `if a; then { b; } fi`.
        self.comes(begins=True)

    def quote(self, sign: _Sign) -> None:
        self.pos = self.behind_quote(sign)
        self.comes()

    def behind_quote(self, sign: _Sign) -> int:
        """The position behind a quoted text."""
        if self.depth >= _MAX_DEPTH:
            raise _Fault("Is nested deeper than anybody reads", sign.span)
        self.depth += 1
        kind = sign.text if sign.text == "${" else sign.text[-1]
        if kind == "'":
            match = (_ESCAPING if sign.text[0] == "$" else _SINGLE).match(self.text, sign.span[1])
            end = match.end() if match else -1
        else:
            end = self.behind("}" if kind == "${" else kind, sign.span[1])
        self.depth -= 1
        if end < 0:
            cause = f"Unterminated {_QUOTES[kind]} from {self.place(sign.span)}"
            raise _Fault(cause, sign.span)
        return end

    def behind(self, end: str, pos: int) -> int:
        """The position behind a sign, past the escapes and substitutions before it; or -1."""
        text = self.text
        while pos < len(text):
            char, two = text[pos], text[pos : pos + 2]
            if char == end:
                return pos + 1
            if char == "\\":
                pos += 2
            elif end == "`":
                pos += 1
            elif two == "$(":
                inner = _Commands(text, self.at, self.depth + 1)
                behind = inner.read(")", pos + 2)
                if behind < 0:
                    cause = f"Unclosed $( from {self.place((pos, pos + 2))}"
                    raise _Fault(cause, (pos, pos + 2))
                pos = behind
            elif two == "${" or char == "`" or (end == "}" and char in "'\""):
                quote = two if two == "${" else char
                pos = self.behind_quote(_Sign(quote, (pos, pos + len(quote))))
            else:
                pos += 1
        return -1

    def skip_documents(self) -> None:
        """Goes behind the here-documents that the line has begun."""
        for name, tabs, span in self.documents:
            line = None
            while line != name:
                if self.pos >= len(self.text):
                    cause = f"Here-document from {self.place(span)} has no line {name} to end it"
                    raise _Fault(cause, span)
                end = self.text.find("\n", self.pos)
                end = len(self.text) if end < 0 else end
                line = self.text[self.pos : end]
                line = line.lstrip("\t") if tabs else line
                self.pos = min(end + 1, len(self.text))
        self.documents.clear()
