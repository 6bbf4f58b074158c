"""Awk read for what it does besides printing: what it runs, writes and reads by itself."""

from __future__ import annotations

from collections.abc import Iterator

from watchgate.core.policy.code.awk.tokens import END, Token, statements_end, tokens
from watchgate.core.policy.code.reading import Argv, Piece, Reading, Unknown, gathered
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

# They change what the program reads, or name its functions and variables by texts.
_HIDDEN = names("ARGV ARGC SYMTAB FUNCTAB")
_STANDARD = names("/dev/stdout /dev/stderr /dev/null /dev/stdin -")
_BEFORE_OPERAND = names("( { } , = && || ! ; : ? while if do else print printf return")


def read(code: str) -> Reading:
    """Return what this program does."""
    return gathered(lambda: _Reader(tokens(code)).commands(), "an awk program")


class _Reader:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens

    def _at(self, place: int) -> Token:
        return self._tokens[place] if 0 <= place < len(self._tokens) else END

    def commands(self) -> Iterator[Argv]:
        """Return what the program does, as commands."""
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
        """Return what a function or a variable of awk stands for."""
        if name in _HIDDEN:
            raise Unread(f"uses {name}")
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
            return ("sh", "-c", Unknown() if text is None else text)
        if not prints:
            raise Unread("has a pipe where it is not understood")
        return ("sh", "-c", self._last_operand(place + 1))

    def _written(self, place: int) -> Iterator[Argv]:
        target = self._last_operand(place + 1)
        if isinstance(target, str):
            if target.startswith("/inet"):
                raise Unread("connects to the network")
            if target in _STANDARD:
                return
        yield ("tee", "-a", target) if self._at(place).text == ">>" else ("tee", target)

    def _line_of(self, place: int) -> Iterator[Argv]:
        """The file that a line is read from, which stands behind a variable."""
        after = place + 1
        while self._at(after).kind == "name" or self._at(after).text == "$":
            after += 1
        if self._at(after).text == "[":
            raise Unread("reads a line into a table")
        if self._at(after).text == "<":
            text = self._constant(after + 1)
            if text is not None and text.startswith("/inet"):
                raise Unread("connects to the network")
            follows = self._at(after + 2)
            alone = statements_end(follows) or follows.text in (")", ">", "&&", "||")
            if text is None or not alone:
                yield ("cat", Unknown())
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
        return Unknown()

    def _last_operand(self, place: int) -> Piece:
        """The operand that begins here, where the statement ends with it."""
        text = self._constant(place)
        return text if text is not None and statements_end(self._at(place + 1)) else Unknown()

    def _constant(self, place: int) -> str | None:
        token = self._at(place)
        # An option or an operand may set any variable, so that only a text itself is certain.
        return token.text if token.kind == "text" else None
