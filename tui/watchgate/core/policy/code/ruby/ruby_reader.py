"""Ruby read for what it does: a closed list of names over its tokens, and a table of what acts."""

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
from watchgate.core.policy.code.ruby import ruby_names
from watchgate.core.policy.code.ruby.ruby_tokens import END, RubyToken, tokens
from watchgate.core.policy.shell.commands import names

_STARTS = names("system exec spawn")
_CALLED_ALONE = names("fork binding eval load send exit! autoload syscall trap open")
_FOLDS = names("inject reduce")
_OPERATORS = names("+ - * / % & | ^ << ** == < > <= >= max min gcd lcm merge")
_CHANGES = names("= += -= ||= << &&= *= |=")
_READS = names("read readlines")
_SETS = names("= += -= ||= &&= *= /= |= &= **= <<=")
_BEFORE_PARAMETER = names("| , ( * & => for")
_BEHIND_PARAMETER = names("| , ) = in")
_ENDS = names("if unless while until rescue and or do then")


def read(code: str) -> CodeReading:
    """Returns the commands that this Ruby amounts to."""
    return gathered(lambda: _RubyReader(tokens(code)).commands(), "Ruby")


class _RubyReader:
    def __init__(self, tokens: Sequence[RubyToken]) -> None:
        self._tokens = tokens
        self._own = {
            self._at(place + 1).text
            for place, token in enumerate(tokens)
            if token.kind == "word" and token.text == "def"
        } - _STARTS
        self._variables = set(self._bound())

    def _at(self, place: int) -> RubyToken:
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def _bound(self) -> Iterator[str]:
        """The names that are variables: given a value, or parameters of a block or a function."""
        for place, token in enumerate(self._tokens):
            if token.kind != "word" or token.text in ruby_names.KEYWORDS:
                continue
            before, after = self._at(place - 1), self._at(place + 1)
            is_set = after.kind == "sign" and after.text in _SETS
            is_parameter = before.text in _BEFORE_PARAMETER and after.text in _BEHIND_PARAMETER
            starts_list = before.kind == "end" and after.text == ","
            if (
                is_set
                or is_parameter
                or starts_list
                or (before.text == "=>" and after.kind == "end")
            ):
                yield token.text

    def commands(self) -> Iterator[Argv]:
        """Returns the code's actions, as commands."""
        for place, token in enumerate(self._tokens):
            check()
            match token.kind:
                case "command":
                    yield ("sh", "-c", token.text or UnknownWord())
                case "word":
                    yield from self._word(place)
                case "method":
                    self._method(place)
                case "constant":
                    yield from self._constant(place)
                case "variable":
                    self._check_variable(place)
                case "sign" if token.text == "&":
                    self._check_block(place)

    def _word(self, place: int) -> Iterator[Argv]:
        word = self._tokens[place].text
        if self._at(place - 1).text == "def":
            if word in ruby_names.BARE or word in ruby_names.METHODS or word in ruby_names.GRAVE:
                raise UnreadCode(f"gives {word} another meaning")
        elif word in ("require", "require_relative", "load"):
            library = self._library(place)
            if word != "require" or library not in ruby_names.LIBRARIES:
                raise UnreadCode(f"loads {library}, which no rule knows")
        elif word in _STARTS and not self._is_library(place):
            pieces = [piece for each in self._arguments(place) for piece in _pieces(each)]
            yield ("sh", "-c", pieces[0]) if len(pieces) == 1 else tuple(pieces or [UnknownWord()])
        elif not self._is_harmless(place):
            raise UnreadCode(f"uses {word}, which no rule knows")

    def _is_harmless(self, place: int) -> bool:
        word = self._tokens[place].text
        if word in ruby_names.KEYWORDS or word in ruby_names.BARE or word in self._own:
            return True
        if self._is_library(place):
            return True
        is_variable = word in self._variables and not self._is_called(place)
        return is_variable and word not in _CALLED_ALONE

    def _library(self, place: int) -> str:
        """The name of a library, which an option gives without quotes."""
        start = place + 2 if self._at(place + 1).text == "(" else place + 1
        if self._at(start).kind == "text":
            return self._at(start).text
        parts: list[str] = []
        while self._at(start).kind != "end":
            parts.append(self._at(start).text)
            start += 1
        return "".join(parts)

    def _is_library(self, place: int) -> bool:
        """Tells whether a word is part of the name behind `require`, as in `net/http`."""
        start = place
        while self._at(start - 1).text in ("/", "-", "net", "open", "digest"):
            start -= 1
        return self._at(start - 1).text == "require"

    def _is_called(self, place: int) -> bool:
        """Tells whether something behind a word makes it a function."""
        after = self._at(place + 1)
        if after.kind == "sign":
            return (after.text == "(" and not after.spaced) or after.text == "#{"
        return after.kind not in ("end", "word", "key") or (
            after.kind == "word" and after.text not in ruby_names.KEYWORDS
        )

    def _method(self, place: int) -> None:
        """A method of something that is no constant."""
        name, owner = self._tokens[place].text, self._at(place - 2)
        if owner.kind == "constant":
            return
        after = self._at(place + 1)
        if name == "class" and place == len(self._tokens) - 1:
            return
        if name not in ruby_names.METHODS and name not in self._own:
            raise UnreadCode(f"calls {name} of something, which no rule knows")
        if name in _READS and (after.text == "(" or after.kind in ("text", "made", "command")):
            raise UnreadCode(f"reads what {name} is given")
        if name == "write" and len(self._arguments(place)) > 1:
            raise UnreadCode("writes to what is only known when it runs")
        if name in _FOLDS:
            self._check_fold(place)

    def _check_fold(self, place: int) -> None:
        """Holds a fold by a method that a text names."""
        after = self._at(place + 1)
        if after.text in ("{", "do", ".", ")", "]", "&.") or after.kind == "end":
            return
        arguments = self._arguments(place)
        last = arguments[-1] if arguments else []
        if len(last) == 1 and last[0].kind == "symbol" and last[0].text in _OPERATORS:
            return
        if len(last) == 2 and last[0].text == "&" and last[1].kind == "symbol":
            return
        if len(arguments) == 1 and all(each.kind in ("number", "sign", "text") for each in last):
            behind = next(
                (i for i in range(place, len(self._tokens)) if self._tokens[i].text == ")"), -1
            )
            if self._at(behind + 1).text in ("{", "do"):
                return
        raise UnreadCode("folds by a method that is only known when it runs")

    def _check_variable(self, place: int) -> None:
        name, after = self._tokens[place].text, self._at(place + 1)
        if name in ("$*", "$LOAD_PATH", "$LOADED_FEATURES") and after.text != "[":
            raise UnreadCode(f"uses {name}")
        if name in ("$0", "$PROGRAM_NAME") and after.text == "=":
            raise UnreadCode(f"changes {name}")

    def _check_block(self, place: int) -> None:
        """Holds a function that is handed on by a name that only the run shows."""
        before, after = self._at(place - 1), self._at(place + 1)
        if before.text not in ("(", ",") and not (before.kind == "method" and not after.spaced):
            return
        known_name = after.text in ruby_names.METHODS or after.text in _OPERATORS
        if after.kind != "symbol" or not known_name:
            raise UnreadCode("hands on a function that is only known when it runs")

    def _constant(self, place: int) -> Iterator[Argv]:
        """A constant with what is done by it."""
        if self._at(place - 1).text == "::" and self._at(place - 2).kind == "constant":
            return
        path, end = self._path(place)
        name = self._at(end).text if self._at(end).kind == "method" else ""
        full = f"{path}.{name}"
        if path == "ENV":
            yield self._environment(end, name)
        elif path == "ARGV":
            self._check_operands(end, name)
        elif path == "Dir" and self._at(place + 1).text == "[":
            yield ("ls", *_glued(_pieces([self._at(place + 2)])))
        elif full in ruby_names.ACTS:
            yield self._acted(ruby_names.ACTS[full], self._arguments(end))
        elif full in ("File.open", "File.new"):
            yield self._opened(self._arguments(end))
        elif full == "IO.popen":
            pieces = [piece for each in self._arguments(end)[:1] for piece in _pieces(each)]
            yield ("sh", "-c", pieces[0] if len(pieces) == 1 else UnknownWord())
        else:
            self._check_constant(path, name, self._at(end))

    def _check_constant(self, path: str, name: str, after: RubyToken) -> None:
        """Holds a constant, or a function of it, that no table knows."""
        first, _, last = path.partition(".")
        if first in ruby_names.HARMLESS_OF:
            known_names = ruby_names.HARMLESS_OF[first]
            is_known = name in known_names or last in known_names
        else:
            is_type = all(part in ruby_names.TYPES for part in path.split("."))
            is_converted = after.text != "(" or path in ruby_names.BARE
            is_known = is_type and (name in ruby_names.METHODS if name else is_converted)
        if not is_known:
            raise UnreadCode(f"uses {f'{path}.{name}' if name else path}, which no rule knows")

    def _path(self, place: int) -> tuple[str, int]:
        """The constants that stand one behind the other, and the place of the method behind."""
        parts = [self._tokens[place].text]
        at = place + 1
        while self._at(at).text == "::" and self._at(at + 1).kind == "constant":
            parts.append(self._at(at + 1).text)
            at += 2
        is_call = self._at(at).text in (".", "&.", "::") and self._at(at).kind == "sign"
        return ".".join(parts), at + 1 if is_call else at

    def _environment(self, end: int, name: str) -> Argv:
        if name in ("", "fetch", "[]", "key?", "has_key?"):
            opener = end + (1 if name else 0)
            key, after = self._at(opener + 1), self._at(opener + 3)
            if after.kind == "sign" and after.text in _CHANGES:
                raise UnreadCode("changes the environment")
            if self._at(opener).text in ("[", "("):
                return ("printenv", key.text if key.kind == "text" else UnknownWord())
        if name not in ruby_names.METHODS or name in (
            "delete",
            "replace",
            "clear",
            "merge!",
            "delete_if",
        ):
            raise UnreadCode("changes the environment")
        return ("printenv",)

    def _check_operands(self, end: int, name: str) -> None:
        """Holds what may change the names of the files that are read or edited."""
        if name:
            if name not in ruby_names.OPERANDS:
                raise UnreadCode("may change what it reads")
        elif self._at(end).text == "[":
            if self._at(end + 3).text in _CHANGES or self._at(end + 2).text != "]":
                raise UnreadCode("may change what it reads")
        else:
            raise UnreadCode("may change what it reads")

    def _arguments(self, place: int) -> list[list[RubyToken]]:
        """The arguments of a function, each with its tokens."""
        bracketed = self._at(place + 1).text == "(" and not self._at(place + 1).spaced
        depth = 0
        parts: list[list[RubyToken]] = [[]]
        for token in self._tokens[place + 2 if bracketed else place + 1 :]:
            if token.kind == "sign" and token.text in ("(", "[", "{", "#{"):
                if token.text == "{" and not bracketed and depth == 0:
                    break
                depth += 1
            elif token.kind == "sign" and token.text in (")", "]", "}", "#}"):
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and (
                token.kind == "end" or (token.kind == "word" and token.text in _ENDS)
            ):
                break
            check()
            if depth == 0 and token.kind == "sign" and token.text == ",":
                parts.append([])
            else:
                parts[-1].append(token)
        return [part for part in parts if part]

    def _acted(self, command: tuple[str, ...], arguments: list[list[RubyToken]]) -> Argv:
        given = [each for each in arguments if each[0].kind != "key"]
        if command[0] in ruby_names.FIRST_ONLY:
            given = given[:1]
        pieces = [piece for each in given for piece in _pieces(each)]
        return (*command, *(pieces or [UnknownWord()]))

    def _opened(self, arguments: list[list[RubyToken]]) -> Argv:
        target = _pieces(arguments[0]) if arguments else []
        mode = arguments[1] if len(arguments) > 1 else [RubyToken("text", "r")]
        reads = (
            len(mode) == 1
            and mode[0].kind == "text"
            and re.fullmatch(r"rb?(?::[\w-]+)*", mode[0].text)
        )
        return ("cat" if reads else "tee", *_glued(target))


def _glued(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return pieces if len(pieces) == 1 else [UnknownWord()]


def _pieces(argument: Sequence[RubyToken]) -> list[Piece]:
    """The words that an argument stands for."""
    texts = [token for token in argument if token.kind == "text"]
    if len(argument) == 1:
        token = argument[0]
        if token.kind in ("text", "number"):
            return [token.text]
        if token.kind in ("word", "variable"):
            return [UnknownWord()]
    if argument and argument[0].kind == "made":
        return [UnknownWord()]
    if argument and argument[0].kind == "words" and len(argument) == 1:
        return [UnknownWord(many=True)]
    if len(argument) == 4 and argument[0].text == "URI" and len(texts) == 1:
        return [texts[0].text]
    if argument and argument[0].text == "[" and argument[-1].text == "]":
        inner = [token for token in argument[1:-1] if token.text != "," or token.kind != "sign"]
        if all(token.kind == "text" for token in inner):
            return [token.text for token in inner]
    return [UnknownWord(many=True)]
