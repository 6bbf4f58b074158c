"""The options in front of a wrapped command, by a table of those that a wrapper knows."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.policy.shell.commands import Word, names


class WrapperOptions(msgspec.Struct, frozen=True):
    """The options of a program: those with a value, and those without."""

    valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()


class Split(msgspec.Struct, frozen=True, gc=False):
    """Words split behind the options: how many are options and values, and which were given.

    `unknown` says that an option stands in no table, so that its value may have been left out.
    """

    length: int
    given: tuple[str, ...]
    unknown: bool


def options(valued: str = "", flags: str = "") -> WrapperOptions:
    """A table from two lists of words."""
    return WrapperOptions(names(valued), names(flags))


def split(words: Sequence[Word], known: WrapperOptions) -> Split:
    """Finds the end of the options at the start of these words."""
    given: list[str] = []
    unknown = False
    index = 0
    while index < len(words):
        text = words[index].text
        index += 1
        if text == "--":
            break
        if not text.startswith("-") or text == "-":
            index -= 1
            break
        if text.startswith("--"):
            name, glued, _ = text.partition("=")
            given.append(name)
            unknown |= name not in known.valued and name not in known.flags
            index += name in known.valued and not glued
        else:
            last = _cluster(text, known, given)
            unknown |= last is None
            index += bool(last)
    return Split(min(index, len(words)), tuple(given), unknown)


def _cluster(text: str, known: WrapperOptions, given: list[str]) -> bool | None:
    """Returns whether a cluster's last value is the next word; None if an option is unknown."""
    if text in known.valued or text in known.flags:
        given.append(text)
        return text in known.valued
    for place, letter in enumerate(text[1:], 1):
        option = "-" + letter
        given.append(option)
        if option in known.valued:
            return place == len(text) - 1
        if option not in known.flags:
            return None
    return False
