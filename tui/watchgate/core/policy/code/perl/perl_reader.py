"""Perl read for what it does: a closed list of words over its tokens, and a table of what acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import (
    Argv,
    CodeReading,
    Piece,
    UnknownWord,
    UnreadCode,
    gathered,
)
from watchgate.core.policy.code.perl import perl_words
from watchgate.core.policy.code.perl.perl_tokens import END, PerlToken, tokens
from watchgate.core.policy.shell.commands import names

_MODE = re.compile(r"(\+?<|\+?>>?)(?::[\w():-]+)?")
# They decide what is loaded, read or called.
_HIDDEN = re.compile(r"[$@%]*(?:SIG|INC|ISA|\^(?![WOTV])\w)\b")
_HANDLE = re.compile(r"[A-Z][A-Z0-9_]{0,20}")
_HIDDEN_NAME = re.compile(r"(?:main|CORE)?(?:::)?(?:ARGV|INC|ENV|SIG|ISA)")
_CHANGES = names("= =~ .= ||= //= += x=")
_ALIASES = names("for foreach map grep local push unshift splice")


def read(code: str) -> CodeReading:
    """Returns the commands that this Perl amounts to."""
    return gathered(lambda: _PerlReader(tokens(code)).commands(), "Perl")


class _PerlReader:
    def __init__(self, tokens: Sequence[PerlToken]) -> None:
        self._tokens = tokens

    def _at(self, place: int) -> PerlToken:
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def commands(self) -> Iterator[Argv]:
        """Returns the code's actions, as commands."""
        place = 0
        while place < len(self._tokens):
            check()
            token = self._tokens[place]
            for used in token.used:
                yield from self._variable(used)
            match token.kind:
                case "scalar" | "array" | "hash":
                    yield from self._variable_at(place)
                case "text" if _HIDDEN_NAME.fullmatch(token.text):
                    raise UnreadCode(f"names {token.text} in a text")
                case "command":
                    yield ("sh", "-c", UnknownWord() if token.used else token.text)
                case "word":
                    if token.text in ("use", "no"):
                        place = self._load(place)
                        continue
                    yield from self._word(place)
                case "sign":
                    self._check_call(place)
            place += 1

    def _variable(self, shown: str) -> Iterator[Argv]:
        """A variable whose value stands in a text."""
        if _HIDDEN.match(shown):
            raise UnreadCode(f"uses {shown}")
        if shown.startswith("$ENV"):
            name = re.fullmatch(r"\$ENV\{['\"]?(\w+)['\"]?\}", shown)
            yield ("printenv", name[1]) if name else ("printenv",)

    def _variable_at(self, place: int) -> Iterator[Argv]:
        token, after = self._tokens[place], self._at(place + 1)
        if _HIDDEN.match(token.text):
            raise UnreadCode(f"uses {token.text}")
        name = token.text.lstrip("$@%#")
        if name == "ENV":
            yield self._environment(place)
        elif name == "ARGV":
            self._check_operands(place)
        elif token.text in ("$", "@", "%", "$#") and after.text == "{":
            inner = self._at(place + 2)
            bare = inner.kind == "word" and self._at(place + 3).text == "}"
            if bare or inner.kind in ("text", "made") or _HIDDEN_NAME.fullmatch(inner.text):
                raise UnreadCode("names a variable by a text")
        elif token.text.startswith("@$") and after.text == "=":
            raise UnreadCode("fills a list that is only known when it runs")

    def _environment(self, place: int) -> Argv:
        key, close = self._at(place + 2), self._at(place + 3)
        if self._at(place + 1).text != "{" or close.text != "}":
            if self._at(place + 1).text in _CHANGES or self._at(place - 1).text == "local":
                raise UnreadCode("changes the environment")
            return ("printenv",)
        if self._at(place + 4).text in _CHANGES or self._at(place - 1).text in ("local", "delete"):
            raise UnreadCode("changes the environment")
        known_key = key.kind in ("key", "text", "word")
        return ("printenv", key.text if known_key else UnknownWord())

    def _check_operands(self, place: int) -> None:
        """Holds what may change the names of the files that are read, which may run commands."""
        token, before, after = self._tokens[place], self._at(place - 1), self._at(place + 1)
        if token.kind == "scalar" and after.text == "[":
            behind = place + 4
            while self._at(behind).text == ")":
                behind += 1
            after = self._at(behind)
            aliased = any(each.kind == "word" and each.text in _ALIASES for each in self._tokens)
            if aliased or after.text not in (",", "}", ";", ".", "//", "||"):
                raise UnreadCode("may change what it reads")
        elif token.kind == "scalar":
            if after.text in _CHANGES:
                raise UnreadCode("may change what it reads")
        elif before.text not in ("=", "scalar", "shift") or not _ends(after):
            raise UnreadCode("may change what it reads")

    def _check_call(self, place: int) -> None:
        """Holds a call of something that only the run shows."""
        if self._tokens[place].text != "->":
            return
        after = self._at(place + 1)
        is_method = after.kind == "word" and after.text in perl_words.METHODS
        if after.text not in ("[", "{", "@", "%", "$") and not is_method:
            raise UnreadCode("calls what is only known when it runs")
        if after.kind == "scalar" and after.text != "$*":
            raise UnreadCode("calls what is only known when it runs")

    def _load(self, place: int) -> int:
        """Passes over the loading of a module that does nothing by it."""
        module = self._at(place + 1)
        if module.text not in perl_words.MODULES and module.kind != "number":
            raise UnreadCode(f"loads the module {module.text}, which no rule knows")
        place += 2
        while place < len(self._tokens) and self._at(place).kind != "end":
            token = self._at(place)
            if (
                token.kind not in ("word", "text", "words", "number", "key")
                and token.text not in "=,()"
            ):
                raise UnreadCode(f"loads {module.text} in a way that is not understood")
            place += 1
        return place

    def _word(self, place: int) -> Iterator[Argv]:
        """A function, or a word of the language."""
        word, after = self._tokens[place].text, self._at(place + 1)
        if self._at(place - 1).text == "->":
            return
        if word in ("system", "exec"):
            yield self._system_argv(self._arguments(place))
        elif word == "open":
            yield from self._opened(self._arguments(place))
        elif word in perl_words.ACTS:
            yield self._acted(word, self._arguments(place))
        elif word in ("do", "eval"):
            if after.text != "{":
                raise UnreadCode(f"runs what {word} is given")
        elif (
            word == "sort"
            and after.kind in ("scalar", "word")
            and after.text not in perl_words.HARMLESS
        ):
            raise UnreadCode("sorts by a function that is only known when it runs")
        elif word in perl_words.CLASSES and (after.text == "->" or "::" not in word):
            return
        elif word not in perl_words.HARMLESS and not self._is_name(place):
            raise UnreadCode(f"uses {word}, which no rule knows")

    def _is_name(self, place: int) -> bool:
        """Tells whether a word names a handle or a label."""
        after = self._at(place + 1)
        return _HANDLE.fullmatch(self._tokens[place].text) is not None and after.text not in (
            "(",
            "->",
            "::",
        )

    def _arguments(self, place: int) -> list[list[PerlToken]]:
        """The arguments of a function, each with its tokens."""
        bracketed = self._at(place + 1).text == "("
        start = place + 2 if bracketed else place + 1
        depth = 0
        parts: list[list[PerlToken]] = [[]]
        for token in self._tokens[start:]:
            if token.kind == "sign" and token.text in ("(", "[", "{"):
                depth += 1
            elif token.kind == "sign" and token.text in (")", "]", "}"):
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and _ends_arguments(token):
                break
            check()
            if depth == 0 and token.text == "," and token.kind == "sign":
                parts.append([])
            else:
                parts[-1].append(token)
        return [part for part in parts if part]

    def _system_argv(self, arguments: list[list[PerlToken]]) -> Argv:
        words = [piece for argument in arguments for piece in _pieces(argument)]
        if len(words) == 1:
            return ("sh", "-c", words[0])
        return tuple(words) if words else ("sh", "-c", UnknownWord())

    def _opened(self, arguments: list[list[PerlToken]]) -> Iterator[Argv]:
        texts = [_pieces(argument) for argument in arguments]
        mode = texts[1][0] if len(texts) > 1 and len(texts[1]) == 1 else None
        if not isinstance(mode, str):
            raise UnreadCode("opens what is only known when it runs")
        if len(texts) == 2:
            yield _opened_by_one(mode)
        elif mode.strip() in ("-|", "|-"):
            yield self._system_argv(arguments[2:])
        elif match := _MODE.fullmatch(mode.strip()):
            target = texts[2][0] if len(texts[2]) == 1 else UnknownWord()
            if not (len(arguments[2]) == 2 and arguments[2][0].text == "\\"):
                yield _opened_as(match[1], target)
        else:
            raise UnreadCode("opens a file in a way that is not understood")

    def _acted(self, word: str, arguments: list[list[PerlToken]]) -> Argv:
        given = [_pieces(argument) for argument in arguments]
        if word in perl_words.FIRST_ONLY:
            place = perl_words.FIRST_ONLY[word]
            given = given[place : place + 1]
        if word == "utime":
            given = given[2:]
        pieces = [piece for each in given for piece in each]
        return (*perl_words.ACTS[word], *(pieces or [UnknownWord()]))


def _ends(token: PerlToken) -> bool:
    return token.kind == "end" or token.text == ")"


def _ends_arguments(token: PerlToken) -> bool:
    is_word = token.kind == "word" and token.text in (
        "or",
        "and",
        "if",
        "unless",
        "for",
        "foreach",
        "while",
    )
    return (
        token.kind == "end"
        or is_word
        or (token.kind == "sign" and token.text in ("||", "&&", "?", ":"))
    )


def _pieces(argument: Sequence[PerlToken]) -> list[Piece]:
    """The words that an argument stands for."""
    if len(argument) == 1:
        token = argument[0]
        if token.kind in ("text", "number"):
            return [token.text]
        if token.kind == "words":
            return list(token.text.split())
        if token.kind in ("scalar", "made"):
            return [UnknownWord()]
    return [UnknownWord(many=True)]


def _opened_as(sign: str, target: Piece) -> Argv:
    match sign:
        case "<" | "":
            return ("cat", target)
        case ">" | "+<" | "+>":
            return ("tee", target)
        case _:
            return ("tee", "-a", target)


def _opened_by_one(text: str) -> Argv:
    """A file or a command that one text opens by the signs around its name."""
    name = text.strip()
    if name.startswith("|") or name.endswith("|"):
        return ("sh", "-c", name.strip("|").strip())
    target = name.lstrip("+<>").strip()
    return _opened_as(name[: len(name) - len(name.lstrip("+<>"))], target)
