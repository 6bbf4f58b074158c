"""The tokens of Perl, as far as they are certain without running it."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.perl import perl_quotes, perl_words
from watchgate.core.policy.shell.commands import names

Kind = Literal[
    "word", "key", "scalar", "array", "hash", "number", "text", "words", "made", "regex", "command",
    "handle", "sign", "end",
]  # fmt: skip

# Replacements by code in such replacements.
_MAX_DEPTH = 4
_BLANK = re.compile(r"[ \t\r\n]+|#[^\n]*")
_WORD = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
_NUMBER = re.compile(
    r"0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.(?!\.)[\d_]*)?(?:[eE][+-]?\d+)?|\.\d+"
)
_SCALAR = re.compile(
    r"\$(?:#\$*\w+|#(?=\{)|\$*[A-Za-z_]\w*|\d+|\^[A-Z]|\{\^?\w+\}|(?=\{)|\$(?=\{)|[^\w\s{:])(?!'\w)"
)
_ARRAY = re.compile(r"@(?:\$*[A-Za-z_]\w*|(?=\{)|[-+](?!\w))")
_HASH = re.compile(r"%(?:\$*[A-Za-z_]\w*|(?=\{)|[-+!](?!\w))")
_HANDLE = re.compile(r"<(?:\$?\w*|<>)>")
_TEST = re.compile(r"-[a-zA-Z](?!\w)(?!\s*=>)")
_SIGN = re.compile(
    r"<=>|\*\*=|\|\|=|&&=|//=|\.\.\.|<<=|>>=|->|\+\+|--|\*\*|=~|!~|==|!=|<=|>=|<<|>>|&&|\|\||//|\.\."
    r"|::|\+=|-=|\*=|/=|\.=|%=|x=(?!=)|\|=|\^=|=>|[-+*/%=<>!~.?:,\\()\[\]{}^|]"
)
_QUOTES = names("q qq qw m s tr y qr qx")
_TAKE_HANDLES = names("print printf say system exec sort")


class PerlToken(msgspec.Struct, frozen=True, gc=False):
    """A token; the `text` of a string is what it means, `used` the variables within it."""

    kind: Kind
    text: str
    used: tuple[str, ...] = ()


END = PerlToken("end", ";")


def tokens(code: str, depth: int = 0) -> list[PerlToken]:
    """The tokens of the code, which stands in that many replacements.

    Raises:
        UnreadCode: Something may be read in several ways.
    """
    if re.search(r"(?:^|\n)=[a-zA-Z]", code):
        raise UnreadCode("has documentation in it")
    if depth > _MAX_DEPTH:
        raise UnreadCode("has code in code deeper than anybody reads")
    lexer = _PerlLexer(code, depth)
    while lexer.step():
        check()
    return lexer.tokens


class _PerlLexer:
    def __init__(self, code: str, depth: int) -> None:
        self._code = code
        self._depth = depth
        self._at = 0
        self._braces: list[bool] = []
        self._ends_value = False
        self.tokens: list[PerlToken] = []

    def step(self) -> bool:
        """Takes one token; nothing is left where it is none."""
        while blank := _BLANK.match(self._code, self._at):
            self._at = blank.end()
        if self._at >= len(self._code):
            return False
        sign = self._code[self._at]
        if sign.isalpha() or sign == "_":
            self._word()
        elif sign in "\"'`":
            self._quoted(sign)
        elif not self._sigil(sign) and not self._number():
            self._sign(sign)
        return True

    def _last(self) -> PerlToken:
        return self.tokens[-1] if self.tokens else END

    def _follows_value(self) -> bool | None:
        """Tells whether an operator is due here; None where it is not certain."""
        last = self._last()
        if last.kind == "word":
            if last.text in perl_words.BEFORE_OPERAND:
                return False
            return True if last.text in perl_words.NO_OPERAND else None
        if last.text == "}" and last.kind == "sign":
            return True if self._ends_value else None
        if last.kind in ("sign", "end"):
            return last.text in (")", "]", "++", "--")
        return True

    def _add(self, kind: Kind, text: str, end: int, used: tuple[str, ...] = ()) -> None:
        self.tokens.append(PerlToken(kind, text, used))
        self._at = end

    def _word(self) -> None:
        match = _WORD.match(self._code, self._at)
        if match is None:
            raise UnreadCode("has letters that are not understood")
        text, end = match[0], match.end()
        rest = self._code[end : end + 40].lstrip()
        last = self._last()
        in_subscript = last.text == "{" and self._braces[-1:] == [True]
        is_key = rest.startswith("=>") or (in_subscript and rest.startswith("}"))
        if is_key and last.text != "->":
            self._add("key", text, end)
        elif text in _QUOTES and last.text != "->":
            self._quote_like(text, end)
        elif self._code[end : end + 1] == "'" or text in ("__END__", "__DATA__", "format"):
            raise UnreadCode(f"uses {text} in a way that is not understood")
        elif text == "x" and self._follows_value() is not False and re.match(r"x\d*=?", text):
            self._add("sign", "x", end)
        else:
            self._add("word", text, end)

    def _quote_like(self, name: str, at: int) -> None:
        """Takes a text or an expression in quotes behind a letter, as in `q(...)`."""
        start = at
        while self._code[start : start + 1] in (" ", "\t", "\n"):
            start += 1
        if start > at and self._code[start : start + 1] not in ("(", "{", "[", "/", "<"):
            raise UnreadCode("has quotes that are not understood")
        first = perl_quotes.part(self._code, start)
        self._finish(name, first)

    def _finish(self, name: str, first: perl_quotes.Quoted) -> None:
        raw = first.opener == "'"
        if name in ("q", "qw") and not raw and f"\\{first.opener}" in first.text:
            # Perl takes the backslash away, in these alone.
            raise UnreadCode("has quotes that are not understood")
        match name:
            case "q":
                self._add("text", perl_quotes.plain_meaning(first.text), first.end)
            case "qw":
                self._add("words", first.text, first.end)
            case "qq":
                self._text(first)
            case "qx":
                self._command(first, raw=raw)
            case "m" | "qr":
                used = _expression(first.text, raw=raw)
                end = first.end + len(perl_quotes.flags("m", self._code, first.end))
                self._add("regex", "", end, used)
            case "tr" | "y":
                second = perl_quotes.second_part(self._code, first)
                self._add(
                    "regex", "", second.end + len(perl_quotes.flags("tr", self._code, second.end))
                )
            case _:
                self._replacement(first, raw=raw)

    def _replacement(self, first: perl_quotes.Quoted, *, raw: bool) -> None:
        second = perl_quotes.second_part(self._code, first)
        flags = perl_quotes.flags("s", self._code, second.end)
        used = _expression(first.text, raw=raw)
        if flags.count("e") > 1:
            raise UnreadCode("runs what a replacement makes as code")
        end = second.end + len(flags)
        if "e" in flags:
            # Perl takes the backslash away before it reads the code.
            if f"\\{second.opener}" in second.text:
                raise UnreadCode("has code with its own quote in it")
            self._add("regex", "", end, used)
            self.tokens += [
                PerlToken("sign", "("),
                *tokens(second.text, self._depth + 1),
                PerlToken("sign", ")"),
            ]
        else:
            more = [] if second.opener == "'" else perl_quotes.variables(second.text)
            self._add("regex", "", end, (*used, *more))

    def _text(self, quoted: perl_quotes.Quoted) -> None:
        used = tuple(perl_quotes.variables(quoted.text))
        meaning = None if used else perl_quotes.meaning(quoted.text)
        if meaning is None or re.search(r"\$[^\w\s]|@[^\w\s.]", quoted.text):
            self._add("made", "", quoted.end, used)
        else:
            self._add("text", meaning, quoted.end)

    def _command(self, quoted: perl_quotes.Quoted, *, raw: bool) -> None:
        used = () if raw else tuple(perl_quotes.variables(quoted.text))
        meaning = None if used or "$" in quoted.text else perl_quotes.meaning(quoted.text)
        self._add("command", meaning or "", quoted.end, used or (() if meaning else ("$",)))

    def _quoted(self, sign: str) -> None:
        quoted = perl_quotes.part(self._code, self._at) if sign != "`" else self._backticks()
        if sign == '"':
            self._text(quoted)
        elif sign == "'":
            self._add("text", perl_quotes.plain_meaning(quoted.text), quoted.end)
        else:
            self._command(quoted, raw=False)

    def _backticks(self) -> perl_quotes.Quoted:
        end = self._code.find("`", self._at + 1)
        if end < 0 or "\\" in self._code[self._at : end]:
            raise UnreadCode("has quotes that are not understood")
        return perl_quotes.Quoted(self._code[self._at + 1 : end], "`", end + 1)

    def _number(self) -> bool:
        match = _NUMBER.match(self._code, self._at)
        if match:
            self._add("number", match[0], match.end())
        return match is not None

    def _sigil(self, sign: str) -> bool:
        """A variable, where one may stand."""
        pattern: re.Pattern[str]
        kind: Kind
        if sign == "$":
            pattern, kind = _SCALAR, "scalar"
        elif sign == "@":
            pattern, kind = _ARRAY, "array"
        elif sign == "%" and self._follows_value() is not True:
            pattern, kind = _HASH, "hash"
        else:
            return False
        match = pattern.match(self._code, self._at)
        if match is None or self._code.startswith("::", match.end()):
            raise UnreadCode("has a variable that is not understood")
        self._add(kind, re.sub(r"[{}]", "", match[0]), match.end())
        return True

    def _sign(self, sign: str) -> None:
        if sign == ";":
            self._add("end", ";", self._at + 1)
            return
        if sign == "(" and (self._last().text == "]" or self._closes_subscript()):
            raise UnreadCode("calls what is only known when it runs")
        follows = self._follows_value()
        if sign in "/<?&*" and follows is None and not (sign == "?" and self._last().text != "}"):
            raise UnreadCode(f"has a {sign!r} that may mean several things")
        if sign in "/<?" and self._may_be_handle():
            raise UnreadCode(f"has a {sign!r} that may mean several things")
        if sign == "/" and not follows:
            self._finish("m", perl_quotes.part(self._code, self._at))
            return
        if sign == "<" and not follows:
            self._handle()
            return
        if sign in "&*" and not follows:
            raise UnreadCode(f"has a {sign!r} that may mean several things")
        if sign == "-" and not follows and (test := _TEST.match(self._code, self._at)):
            self._add("sign", "-e", test.end())
            return
        match = _SIGN.match(self._code, self._at)
        if match is None:
            raise UnreadCode(f"has a {sign!r} where it is not understood")
        text = match[0]
        self._braced(text)
        self._add("sign", text, match.end())

    def _may_be_handle(self) -> bool:
        """Tells whether Perl may take the variable before this sign for a handle to print to."""
        if len(self.tokens) < 2 or self.tokens[-1].kind != "scalar":
            return False
        around = self._code[self._at - 1] + self._code[self._at + 1 : self._at + 2]
        return (
            self.tokens[-2].text in _TAKE_HANDLES
            and around[:1].isspace()
            and not around[1:].isspace()
        )

    def _closes_subscript(self) -> bool:
        return self._last().kind == "sign" and self._last().text == "}" and self._ends_value

    def _handle(self) -> None:
        match = _HANDLE.match(self._code, self._at)
        if match is None:
            raise UnreadCode("has a '<' that is not understood")
        self._add("handle", match[0], match.end())

    def _braced(self, text: str) -> None:
        if text == "{":
            last = self._last()
            is_value = last.kind in ("scalar", "array", "hash") or last.text in ("->", "]")
            self._braces.append(is_value or (last.text == "}" and self._ends_value))
        elif text == "}":
            self._ends_value = self._braces.pop() if self._braces else False


def _expression(text: str, *, raw: bool) -> tuple[str, ...]:
    """The variables in an expression, which has none in single quotes."""
    if raw:
        perl_quotes.check_expression(text)
        return ()
    return tuple(perl_quotes.variables(text, expression=True))
