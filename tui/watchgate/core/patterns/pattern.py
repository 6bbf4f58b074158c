"""A regular expression that meets text from outside."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from watchgate.core.patterns import allowance, cost
from watchgate.core.patterns.automaton import NoAutomaton, has_one
from watchgate.core.patterns.held import held, written
from watchgate.core.patterns.needed import Words, needed
from watchgate.core.patterns.scanning import How, Scanner
from watchgate.core.patterns.tree import Choice, Node, parsed

MAX_CHARS = 65_536
"""Of a text longer than this nothing is known: `Spent` is raised."""

MAX_STEPS = 1_500_000
"""Steps of Python's engine for one text: a few milliseconds."""

# Texts are told apart by a few lengths, so that a pattern's cost is worked out once for each.
_LENGTHS = (16, 32, 64, 128, 256, 1_024, 4_096, 16_384, MAX_CHARS)
# Commands have up to so many characters, and most words so many.
_USUAL = (256, 64)
# A pattern for which there is no automaton must be cheap for a text that people write.
_MUST_TAKE = 512
# A few hundred nanoseconds each, for every character of megabytes.
_MAX_STEPS_A_START = 100


class PatternFault(ValueError):
    """The pattern cannot be used; the message says why, and what to write."""


class Pattern:
    """A compiled pattern. It tells whether it is found, in a time that grows with the text alone.

    Methods raise `Spent` where the time of the work under way is over, or the text too long.
    """

    __slots__ = (
        "_compiled",
        "_heads",
        "_held",
        "_needed",
        "_node",
        "_scanners",
        "_short",
        "_short_here",
        "_steps",
        "_steps_here",
        "flags",
        "source",
    )

    def __init__(self, source: str, flags: int = 0) -> None:
        """Take a pattern as `re.compile` does; raises `PatternFault`."""
        self.source = source
        self.flags = flags
        try:
            with warnings.catch_warnings():
                # `[[` may mean something else in a later Python; now it means what it always did.
                warnings.simplefilter("ignore", FutureWarning)
                self._compiled = re.compile(source, flags)
        except (re.error, RecursionError, OverflowError) as fault:
            raise PatternFault(f"is no regular expression: {fault}") from None
        self._node: Node | None = None
        self._scanners: dict[str, Scanner] = {}
        self._heads: tuple[str, ...] = ()
        self._held: Callable[[str], object] | None = None
        self._needed: tuple[Words, ...] = ()
        # Texts of so many characters are for Python's engine: in a search, and at one place.
        self._short = self._short_here = _SURELY_SHORT
        # The steps that each start takes in texts up to a length.
        self._steps: dict[int, int] = {}
        self._steps_here: dict[int, int] = {}

    def search(self, text: str) -> bool:
        """Tell whether it is found anywhere in the text."""
        if len(text) <= self._short or self._is_short(text):
            return self._compiled.search(text) is not None
        return self._scan(text, "search")

    def match(self, text: str) -> bool:
        """Tell whether it is found where the text begins."""
        if len(text) <= self._short_here or self._is_short_here(text):
            return self._compiled.match(text) is not None
        return self._scan(text, "match")

    def fullmatch(self, text: str) -> bool:
        """Tell whether it stands for the whole text."""
        if len(text) <= self._short_here or self._is_short_here(text):
            return self._compiled.fullmatch(text) is not None
        return self._scan(text, "fullmatch")

    def span(self, text: str) -> tuple[int, int] | None:
        """Return the span of the first match; the whole text where only its presence is known."""
        if len(text) <= self._short or self._is_short(text):
            hit = self._compiled.search(text)
            return hit.span() if hit else None
        return (0, len(text)) if self._scan(text, "search") else None

    def span_here(self, text: str) -> tuple[int, int] | None:
        """Likewise, where it is found at the beginning of the text."""
        if len(text) <= self._short_here or self._is_short_here(text):
            hit = self._compiled.match(text)
            return hit.span() if hit else None
        return (0, len(text)) if self._scan(text, "match") else None

    def prepare(self) -> None:
        """Work out now what texts of usual length cost, instead of at the first of them."""
        self._is_short(" " * (_SURELY_SHORT + 1))
        self._is_short_here(" " * (_SURELY_SHORT + 1))

    def refuse_unbounded(self) -> None:
        """Raise `PatternFault` where it may take long for a short text, and no automaton helps."""
        node = self._tree()
        if has_one(node) or self._held:
            return
        if cost.from_every_place(node, _MUST_TAKE) > MAX_STEPS:
            raise PatternFault(
                "may take for ever: it repeats what a longer group matched, has an atomic group or"
                " a possessive repeat, or is very long; write it without, or give its repeats an"
                " end such as {0,20}"
            )

    def refuse_slow(self) -> None:
        """Raise `PatternFault` where Python's engine may take many steps at one place of a text."""
        if cost.of_a_start(self._tree(), MAX_CHARS) > _MAX_STEPS_A_START:
            raise PatternFault(
                "may take long: it repeats what it repeats already, or goes on without end before"
                " what it looks for; give its repeats an end such as {0,20}"
            )

    def _tree(self) -> Node:
        if self._node is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                node = parsed(self.source, self.flags)
            parts = node.parts if isinstance(node, Choice) else (node,)
            heads = tuple(cost.head(part, cased=True) for part in parts)
            self._heads = heads if all(heads) else ()
            self._needed = needed(node)
            if (one := held(node)) is not None:
                self._held = one.test()
            # Last: another thread that sees it uses what was set before.
            self._node = node
        return self._node

    def _is_short(self, text: str) -> bool:
        """Tell whether Python's engine is sure to be done with a search in `MAX_STEPS`."""
        length = _length(text)
        # Commands are short: where one of usual length is cheap, the others need no look.
        for each in (*_USUAL, length):
            if each >= length > self._short and each not in self._steps:
                with allowance.uncounted():
                    steps = self._steps[each] = cost.of_a_start(self._tree(), each)
                    starts = 1 if cost.starts_only(self._tree()) else each
                if steps * starts <= MAX_STEPS:
                    self._short = max(self._short, each)
        if length <= self._short:
            return True
        steps = self._steps[length]
        return bool(self._heads) and steps * sum(map(text.count, self._heads)) <= MAX_STEPS

    def _is_short_here(self, text: str) -> bool:
        """Likewise of a look at one place."""
        length = _length(text)
        for each in (*_USUAL, length):
            if each >= length > self._short_here and each not in self._steps_here:
                with allowance.uncounted():
                    steps = self._steps_here[each] = cost.from_one_place(self._tree(), each)
                if steps <= MAX_STEPS:
                    self._short_here = max(self._short_here, each)
        return length <= self._short_here

    def _scan(self, text: str, mode: How) -> bool:
        node = self._tree()
        if self._needed:
            small = text.lower()
            if not all(any(map(small.__contains__, words)) for words in self._needed):
                return False
        chars = ""
        if self._held is not None:
            chars = "".join(filter(self._held, sorted(set(text))))
            if len(chars) > _MAX_HELD:
                raise allowance.Spent
        scanner = self._scanners.get(chars)
        if scanner is None:
            if len(self._scanners) >= _MAX_SCANNERS:
                self._scanners.clear()
            try:
                scanner = self._scanners[chars] = Scanner(
                    written(node, chars) if self._held else node
                )
            except NoAutomaton:
                # A text this long is not for such a pattern: nobody knows what it would say.
                raise allowance.Spent from None
        return scanner.finds(text, mode)


@lru_cache(maxsize=4_096)
def shared(source: str, flags: int = 0) -> Pattern:
    """The one pattern of this source: rules repeat theirs, and its tree takes long to make.

    It is prepared, so that no call waits for that. Raises `PatternFault`.
    """
    made = Pattern(source, flags)
    made.prepare()
    return made


def _length(text: str) -> int:
    """The next of a few lengths; raises `Spent` beyond the last."""
    if len(text) > MAX_CHARS:
        raise allowance.Spent
    return next(each for each in _LENGTHS if len(text) <= each)


# So short that no pattern takes long.
_SURELY_SHORT = 8
# One for each set of characters that a group may hold, and one for a pattern without such a group.
_MAX_SCANNERS = 16
_MAX_HELD = 64
