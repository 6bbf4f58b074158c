"""Variables that a text sets to what stands in it: `a=git; $a push` runs git.

So does a loop over words, `for f in a .env`.

A command that names one is judged once more as it is with the value. The text stays opaque, since
nobody can tell for sure what the variable holds then: the value can only make it graver.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product

from msgspec.structs import replace

from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.script import Notes
from watchgate.core.policy.shell.words import Word

_VALUES_A_NAME = 8
_VARIANTS_A_COMMAND = 8
# So few that they alone do not fill what is looked at of a text.
_VARIANTS_A_TEXT = 32
_MAX_CHARS = 400

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_PLAIN = re.compile(r"[\w./:@%+,=~^-]+", re.ASCII)
_NAMED = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)


class Constants:
    """The values that a text gives to its variables, by name."""

    def __init__(self, notes: Notes) -> None:
        self._values: dict[str, list[str]] = {}
        self._looped = notes.looped
        self._left = _VARIANTS_A_TEXT

    def note(self, command: Command) -> None:
        """Remember what a command assigns, where the text shows it."""
        for word in command.assignments:
            match = _ASSIGNED.match(word.text)
            if match is None or word.dynamic:
                continue
            self._add(match[1], word.text[match.end() :])

    def _add(self, name: str, value: str) -> None:
        values = self._values.setdefault(name, [])
        if value not in values and len(values) < _VALUES_A_NAME and len(value) < _MAX_CHARS:
            values.append(value)

    def variants(self, command: Command) -> Iterator[Command]:
        """The command with the values in place of the names."""
        while self._looped:
            name, listed = self._looped.popitem()
            for value in filter(_PLAIN.fullmatch, listed):
                self._add(name, value)
        targets = [redirect.target for redirect in command.redirects]
        given = [word for word in (*command.words, *targets) if word.dynamic]
        if not self._values or not given:
            return
        named = {name for word in given for name in _names(word)} & self._values.keys()
        if not named:
            return
        choices = product(*(self._values[name] for name in sorted(named)))
        for chosen in islice(choices, min(_VARIANTS_A_COMMAND, self._left)):
            self._left -= 1
            values = dict(zip(sorted(named), chosen, strict=True))
            words = tuple(each for word in command.words for each in _filled(word, values))
            redirects = tuple(
                replace(each, target=_filled(each.target, values)[0]) for each in command.redirects
            )
            if words != command.words or redirects != command.redirects:
                yield replace(command, words=words, redirects=redirects, nested=True)


def _names(word: Word) -> list[str]:
    return [hit[1] or hit[2] for hit in _NAMED.finditer(word.text)]


def _filled(word: Word, values: dict[str, str]) -> Sequence[Word]:
    """The words that one word becomes; outside of quotes a value is split at its blanks."""
    if not word.dynamic or values.keys().isdisjoint(_names(word)) or len(word.text) > _MAX_CHARS:
        return (word,)
    text, done = "", 0
    at: list[int] = []
    rest = False
    for hit in _NAMED.finditer(word.text):
        value = values.get(hit[1] or hit[2])
        if value is None:
            rest = True
            continue
        text += word.text[done : hit.start()] + value
        at += [*word.at[done : hit.start()], *[word.start] * len(value)]
        done = hit.end()
    text += word.text[done:]
    at += word.at[done:]
    rest = rest or "$(" in text or "`" in text or word.expands == "glob"
    expands = word.expands if rest else ""
    prefix = text[: text.find("$")] if rest and "$" in text else text
    if word.expands != "words" or rest or not text.split():
        return (Word(text, tuple(at), word.start, word.end, expands, prefix),)
    return [
        Word(piece, (word.start,) * len(piece), word.start, word.end, "", piece)
        for piece in text.split()
    ]
