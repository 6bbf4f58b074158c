"""A rule of a standing grant: it lets through one command by its words, or one tool.

Written as text, a rule is the words as a shell would quote them; ` *` behind them says that
further arguments may follow: `npm run build *`, `WebFetch docs.python.org`, `Edit *`.
"""

from __future__ import annotations

import shlex

import msgspec

_MORE = "*"


class GrantRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Commands that begin with these words, of the tool that is called so by its agent.

    Without `more` they are all the words of it. Where a tool has no words, its own name is the
    first, a fetched host the second. `number` is the part of the text that it was made for.
    """

    words: tuple[str, ...]
    more: bool = False
    tool: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        """Returns the rule as a person reads and edits it."""
        return shlex.join(self.words) + (f" {_MORE}" if self.more else "")

    def covers(self, words: tuple[str, ...]) -> bool:
        """Returns whether a command of these words is one of those that it lets through."""
        head = words[: len(self.words)]
        return bool(self.words) and head == self.words and (self.more or len(head) == len(words))


def read(text: str) -> tuple[tuple[str, ...], bool]:
    """Reads a rule's text; returns its words, and whether more may follow.

    Raises `ValueError` that says what is wrong.
    """
    try:
        words = shlex.split(text)
    except ValueError as fault:
        raise ValueError(f"{text!r} cannot be read: {fault}") from None
    more = text.rstrip().endswith(f" {_MORE}")
    if more:
        words.pop()
    if not words:
        raise ValueError(f"{text!r} names no program: begin with one, such as `npm run build *`")
    return tuple(words), more
