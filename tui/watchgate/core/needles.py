"""Words that somebody looks for in a text: matched where a word begins so, or anywhere.

A word is a run of ASCII letters and digits and of whatever is not ASCII, as the index of recorded
history cuts them: what begins here is what that finds there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

_WORD: Final = r"0-9a-z\u0080-\U0010ffff"
_RUN = re.compile(f"[{_WORD}]+")
_INSIDE: Final = f"(?<![{_WORD}])"


class Runs(msgspec.Struct, frozen=True):
    """The words that a text with the needle holds: `whole` ones, and one that begins so."""

    whole: tuple[str, ...] = ()
    begun: str = ""


def finder(needle: str, *, anywhere: bool = False) -> Callable[[str], bool]:
    """Builds the test whether a text has the needle, regardless of case.

    `push` is found in `git.push` and `--push`, and in `gitpush` only `anywhere`.
    """
    wanted = needle.casefold()
    if anywhere or not _RUN.match(wanted):
        return lambda text: wanted in text.casefold()
    search = re.compile(_INSIDE + re.escape(wanted)).search

    def begins(text: str) -> bool:
        folded = text.casefold()
        return wanted in folded and search(folded) is not None

    return begins


def runs(needle: str) -> Runs:
    """Returns the words that every text has in which the needle stands where one begins."""
    wanted = needle.casefold()
    words = [(match[0], match.end()) for match in _RUN.finditer(wanted)]
    if words and words[-1][1] == len(wanted):
        return Runs(tuple(word for word, _ in words[:-1]), words[-1][0])
    return Runs(tuple(word for word, _ in words))
