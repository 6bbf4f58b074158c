"""The tokens of Ruby, as far as they are certain without running it."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.ruby import ruby_names

Kind = Literal[
    "word", "method", "constant", "key", "symbol", "variable", "number", "text", "words", "made",
    "regex", "command", "sign", "end",
]  # fmt: skip

# Texts with code in texts with code.
_MAX_DEPTH = 6
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+|#[^\n]*")
_WORD = re.compile(r"[a-z_]\w*(?:[?!](?!=))?|[A-Z]\w*")
_NUMBER = re.compile(r"0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?[ri]?")
_VARIABLE = re.compile(r"@{1,2}[A-Za-z_]\w*|\$(?:[A-Za-z_]\w*|\d+|[~_,/;.<>!?$&*@+'`])")
_SYMBOL = re.compile(r":([A-Za-z_]\w*[?!=]?(?![=>~])|\[\]=?|[-+*/%<>=!&|^~]{1,3})")
_CHARACTER = re.compile(r"\?(\\?[^\s\w\\]|\w)(?!\w)")
_SIGN = re.compile(
    r"\*\*=|<=>|===|\.\.\.|<<=|>>=|&&=|\|\|=|&\.|->|=>|\*\*|==|!=|>=|<=|&&|\|\||=~|!~|\.\.|::|<<|>>"
    r"|[-+*/%|&^]=|[-+*/%=<>!~?:.,()\[\]{}|&^]"
)
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
# A name that may be a variable, after which a sign is an operator.
_BOUND = re.compile(r"(?<![\w.])([a-z_]\w*)[ \t]{0,9}(?:=(?!=)|,|\||\)|[-+*/|&]=)")
_HEREDOC = re.compile(r"<<[~-]?[\"'`\w]")
_LABEL = re.compile(r":(?!:)")
_FLAGS = re.compile(r"[mixounse]*(?!\w)")
_PERCENT = re.compile(r"%([qQwWiIxr]?)([^\w\s])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "0": "\0", "a": "\a", "e": "\x1b"}


class RubyToken(msgspec.Struct, frozen=True, gc=False):
    """A token; the `text` of a string is what it means, and `spaced` says what stands before it."""

    kind: Kind
    text: str
    spaced: bool = False


END = RubyToken("end", ";")


def tokens(code: str) -> list[RubyToken]:
    """The tokens of the code; those of code within texts stand in brackets behind them.

    Raises:
        UnreadCode: Something may be read in several ways.
    """
    if re.search(r"(?:^|\n)(?:=begin|__END__)", code):
        raise UnreadCode("has documentation or data in it")
    lexer = _RubyLexer(code)
    lexer.run(0)
    return lexer.tokens


class _RubyLexer:
    def __init__(self, code: str, depth: int = 0) -> None:
        if depth > _MAX_DEPTH:
            raise UnreadCode("has texts in texts deeper than anybody reads")
        self._code = code
        self._depth = depth
        self._at = 0
        self._choices = 0
        self._bound: set[str] | None = None
        self.tokens: list[RubyToken] = []

    def run(self, start: int, *, within: bool = False) -> int:
        """Takes all tokens, or those up to the brace that closes code in a text."""
        self._at = start
        depth = 0
        while True:
            check()
            spaced = self._blanks()
            if self._at >= len(self._code):
                if within:
                    raise UnreadCode("has a text without an end")
                return self._at
            sign = self._code[self._at]
            depth += (sign == "{") - (sign == "}")
            if within and depth < 0:
                return self._at + 1
            self._step(sign, spaced)

    def _blanks(self) -> bool:
        start = self._at
        while match := _BLANK.match(self._code, self._at):
            self._at = match.end()
        return self._at > start or self._at == 0

    def _step(self, sign: str, spaced: bool) -> None:
        if sign in ";\n":
            self._add("end", ";", self._at + 1, spaced)
        elif sign.isalpha() or sign == "_":
            self._word(spaced)
        elif sign.isdecimal():
            self._match("number", _NUMBER, spaced)
        elif sign in "@$":
            self._match("variable", _VARIABLE, spaced)
        elif sign in "\"'`":
            self._quoted(sign, self._at + 1, sign, spaced)
        elif not self._literal(sign, spaced):
            self._match("sign", _SIGN, spaced)
            self._choices += self.tokens[-1].text == "?"
            if self.tokens[-1].text == ":" and self._choices:
                self._choices -= 1

    def _literal(self, sign: str, spaced: bool) -> bool:
        """A regular expression, a list, a symbol or a letter, where one may stand."""
        if sign not in "/%:?<":
            return False
        if sign == ":" and self._code.startswith("::", self._at):
            return False
        starts = self._starts_value(sign, spaced)
        if not starts:
            return False
        if sign == "<" and _HEREDOC.match(self._code, self._at):
            raise UnreadCode("has a text that ends further below")
        if sign == "%":
            return self._percent(spaced)
        quote = "/" if sign == "/" else '"'
        if sign == "/" or self._code.startswith(':"', self._at):
            self._quoted(quote, self._at + (1 if sign == "/" else 2), quote, spaced)
            return True
        pattern = _SYMBOL if sign == ":" else _CHARACTER
        match = pattern.match(self._code, self._at)
        if match is None:
            return False
        self._add("symbol" if sign == ":" else "text", match[1], match.end(), spaced)
        return True

    def _starts_value(self, sign: str, spaced: bool) -> bool:
        """Tells whether a value is due here, and not an operator."""
        last = self.tokens[-1] if self.tokens else END
        if last.kind == "sign":
            return last.text not in (")", "]", "}")
        if last.kind in ("end", "key"):
            return True
        if last.kind == "word" and last.text in ruby_names.KEYWORDS:
            return last.text not in ruby_names.VALUES
        if last.kind in ("word", "method"):
            glued = not self._code[self._at + 1 : self._at + 2].isspace()
            if not (spaced and glued) or (sign == "?" and last.kind == "method"):
                return False
            if self._choices or last.kind == "method" or self._is_variable(last.text):
                raise UnreadCode(f"has a {sign!r} that may mean several things")
            return True
        return False

    def _is_variable(self, name: str) -> bool:
        if self._bound is None:
            self._bound = {match[1] for match in _BOUND.finditer(self._code)}
        return name in self._bound

    def _add(self, kind: Kind, text: str, end: int, spaced: bool) -> None:
        self.tokens.append(RubyToken(kind, text, spaced))
        self._at = end

    def _match(self, kind: Kind, pattern: re.Pattern[str], spaced: bool) -> None:
        match = pattern.match(self._code, self._at)
        if match is None:
            raise UnreadCode(f"has a {self._code[self._at]!r} where it is not understood")
        self._add(kind, match[0], match.end(), spaced)

    def _word(self, spaced: bool) -> None:
        match = _WORD.match(self._code, self._at)
        if match is None:
            raise UnreadCode("has letters that are not understood")
        text, end = match[0], match.end()
        last = self.tokens[-1].text if self.tokens and self.tokens[-1].kind == "sign" else ""
        if last in (".", "&.") or (last == "::" and text[0].islower()):
            self._add("method", text, end, spaced)
        elif _LABEL.match(self._code, end) and not self._choices:
            self._add("key", text, end + 1, spaced)
        else:
            is_constant = text[0].isupper() and text not in ruby_names.KEYWORDS
            self._add("constant" if is_constant else "word", text, end, spaced)

    def _percent(self, spaced: bool) -> bool:
        match = _PERCENT.match(self._code, self._at)
        if match is None:
            return False
        letter, opener = match[1], match[2]
        if letter in ("w", "W", "i", "I"):
            closer = _BRACKETS.get(opener, opener)
            end = self._code.find(closer, match.end())
            inner = self._code[match.end() : end]
            if end < 0 or "#{" in inner or "\\" in inner or opener in inner:
                raise UnreadCode("has a list that is not understood")
            self._add("words", inner, end + 1, spaced)
            return True
        kind = {"q": "'", "x": "`", "r": "/"}.get(letter, '"')
        self._quoted(kind, match.end(), _BRACKETS.get(opener, opener), spaced, opener)
        return True

    def _quoted(self, kind: str, start: int, closer: str, spaced: bool, opener: str = "") -> None:
        """A text, a command or an expression, with the code that stands in it.

        Args:
            kind: The kind of token to make.
            start: Where the text begins, behind its opener.
            closer: The character that ends it.
            spaced: Whether a blank stands before it.
            opener: The character that nests with the closer; empty where none does.
        """
        at, depth = start, 0
        parts: list[str] = []
        codes: list[list[RubyToken]] = []
        while at < len(self._code):
            sign = self._code[at]
            if sign == "\\":
                parts.append(self._code[at : at + 2])
                at += 2
            elif sign == "#" and self._code[at + 1 : at + 2] == "{" and kind != "'":
                inner = _RubyLexer(self._code, self._depth + 1)
                at = inner.run(at + 2, within=True)
                codes.append(inner.tokens)
            elif sign == "#" and self._code[at + 1 : at + 2] in ("@", "$") and kind != "'":
                codes.append([])
                at += 1
            elif sign == closer and not depth:
                break
            else:
                depth += (sign == opener and opener != closer) - (sign == closer)
                parts.append(sign)
                at += 1
        else:
            raise UnreadCode("has a quote without an end")
        end = at + 1
        if kind == "/":
            flags = _FLAGS.match(self._code, end)
            if flags is None:
                raise UnreadCode("has letters behind an expression that are not understood")
            end = flags.end()
        elif kind in "\"'" and _LABEL.match(self._code, end) and not self._choices:
            end += 1
        self._finish(kind, _meaning(parts, raw=kind == "'"), codes, end, spaced)

    def _finish(
        self, kind: str, text: str | None, codes: list[list[RubyToken]], end: int, spaced: bool
    ) -> None:
        """Adds a token for what stands in quotes, then those of the code in it.

        Args:
            kind: The kind of token to make.
            text: Its parts of plain text.
            codes: The code that stands between them.
            end: The character behind it.
            spaced: Whether a blank stands before it.
        """
        if kind == "/":
            self._add("regex", "", end, spaced)
        elif kind == "`":
            known_text = "" if codes or text is None else text
            self._add("command", known_text, end, spaced)
        elif codes or text is None:
            self._add("made", "", end, spaced)
        else:
            self._add("text", text, end, spaced)
        for code in codes:
            self.tokens += [RubyToken("sign", "#{"), *code, RubyToken("sign", "#}")]


def _meaning(parts: list[str], *, raw: bool) -> str | None:
    """Returns the text with its escapes resolved; None where only Ruby knows them."""
    words: list[str] = []
    for part in parts:
        if len(part) == 1 or not part.startswith("\\"):
            words.append(part)
        elif raw:
            words.append(part[1] if part[1] in "\\'" else part)
        elif part[1].isalnum() and part[1] not in _ESCAPES:
            return None
        else:
            words.append(_ESCAPES.get(part[1], part[1]))
    return "".join(words)
