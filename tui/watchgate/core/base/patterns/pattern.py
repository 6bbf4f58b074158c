r"""A regular expression that meets text from outside.

- Patterns in which a character comes again that a group remembers: `s(.)a\1`. No automaton
  remembers anything. But of one character there are few in a text, and with each of them written
  into the pattern, in place of the group and of what repeats it, one can be made.
- Letters without which a pattern is in no text, so that most texts need no look at it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from watchgate.core.base.patterns import allowance, pattern_cost
from watchgate.core.base.patterns.automaton import MatchMode, NoAutomaton, Scanner, has_one
from watchgate.core.base.patterns.pattern_cost import EITHER, LETTERS
from watchgate.core.base.patterns.regex_tree import (
    Alternatives,
    Atomic,
    Backreference,
    Lookaround,
    Node,
    One,
    RememberedCharacter,
    Repeat,
    Sequence,
    only,
    parsed,
)


def held(node: Node) -> One | None:
    """Returns the one set of characters in a backreference's group; None where it may hold more."""
    groups = _repeated(node)
    group = groups.pop() if len(groups) == 1 else 0
    holding = _holding(node, group)
    if len(holding) != 1 or not _is_open(node, group):
        return None
    return holding[0]


def written(node: Node, chars: Iterable[str]) -> Node:
    """The pattern with each of these characters in turn for the group and what repeats it."""
    group = next(iter(_repeated(node)))
    return _opened(node, group, [only(char) for char in chars])


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence() | Alternatives():
            return node.parts
        case Repeat() | Atomic() | Lookaround():
            return (node.body,)
        case _:
            return ()


def _repeated(node: Node) -> set[int]:
    if isinstance(node, Backreference):
        return {node.group}
    return {group for part in _parts(node) for group in _repeated(part)}


def _holding(node: Node, group: int) -> list[One]:
    if isinstance(node, RememberedCharacter) and node.group == group:
        return [node.body]
    return [one for part in _parts(node) for one in _holding(part, group)]


def _is_open(node: Node, group: int) -> bool:
    """Returns whether every repetition of the group follows it in one sequence."""
    match node:
        case Sequence():
            for place, part in enumerate(node.parts):
                if isinstance(part, RememberedCharacter) and part.group == group:
                    return not any(_repeated(each) for each in node.parts[:place])
            return all(_is_open(part, group) for part in node.parts)
        case Alternatives():
            return all(_is_open(part, group) for part in node.parts)
        case Repeat():
            return _is_open(node.body, group)
        case _:
            return not _repeated(node)


def _opened(node: Node, group: int, chars: list[One]) -> Node:
    """The node with a choice of the characters in the sequence that holds the group."""
    match node:
        case Sequence() if any(
            isinstance(p, RememberedCharacter) and p.group == group for p in node.parts
        ):
            return Alternatives(tuple(_written(node, group, char) for char in chars))
        case Sequence():
            return Sequence(tuple(_opened(part, group, chars) for part in node.parts))
        case Alternatives():
            return Alternatives(tuple(_opened(part, group, chars) for part in node.parts))
        case Repeat():
            return Repeat(_opened(node.body, group, chars), node.low, node.high)
        case _:
            return node


def _written(node: Node, group: int, char: One) -> Node:
    match node:
        case RememberedCharacter() if node.group == group:
            return char
        case Backreference():
            return char
        case Sequence():
            return Sequence(tuple(_written(part, group, char) for part in node.parts))
        case Alternatives():
            return Alternatives(tuple(_written(part, group, char) for part in node.parts))
        case Repeat():
            return Repeat(_written(node.body, group, char), node.low, node.high)
        case Lookaround() if _repeated(node):
            return Lookaround(_written(node.body, group, char), node.ahead, node.wanted, None)
        case _:
            return node


_MAX_CHOICES = 32

Words = tuple[str, ...]


def needed(node: Node) -> tuple[Words, ...]:
    """Sets of words in small letters; of each set any text that fits holds one."""
    match node:
        case Sequence():
            return tuple(_of_parts(node.parts))
        case Alternatives():
            letters = [max(needed(part), key=_worth, default=()) for part in node.parts]
            words = tuple(dict.fromkeys(word for words in letters for word in words))
            return (words,) if all(letters) and len(words) <= _MAX_CHOICES else ()
        case Repeat() if node.low:
            return needed(node.body)
        case Atomic():
            return needed(node.body)
        case _:
            letter = _letter(node)
            return ((letter,),) if letter else ()


def _of_parts(parts: tuple[Node, ...]) -> Iterator[Words]:
    run = ""
    for part in parts:
        if letter := _letter(part):
            run += letter
            continue
        if run:
            yield (run,)
        run = ""
        yield from needed(part)
    if run:
        yield (run,)


def _letter(node: Node) -> str:
    """The one letter that it stands for; none that has a sister beyond ASCII."""
    one = node.body if isinstance(node, RememberedCharacter) else node
    if not isinstance(one, One):
        return ""
    if one.chars >> 128:
        return ""
    return LETTERS.get(one.chars, "").lower() or EITHER.get(one.chars, "")


def _worth(words: Words) -> tuple[int, int]:
    return min(map(len, words)), -len(words)


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
        """Takes a pattern as `re.compile` does; raises `PatternFault`."""
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
        """Tells whether it is found anywhere in the text."""
        if len(text) <= self._short or self._is_short(text):
            return self._compiled.search(text) is not None
        return self._scan(text, "search")

    def match(self, text: str) -> bool:
        """Tells whether the pattern matches at the start of the text."""
        if len(text) <= self._short_here or self._is_short_here(text):
            return self._compiled.match(text) is not None
        return self._scan(text, "match")

    def fullmatch(self, text: str) -> bool:
        """Tells whether the pattern matches the whole text."""
        if len(text) <= self._short_here or self._is_short_here(text):
            return self._compiled.fullmatch(text) is not None
        return self._scan(text, "fullmatch")

    def span(self, text: str) -> tuple[int, int] | None:
        """Returns the span of the first match; the whole text where only its presence is known."""
        if len(text) <= self._short or self._is_short(text):
            hit = self._compiled.search(text)
            return hit.span() if hit else None
        return (0, len(text)) if self._scan(text, "search") else None

    def span_here(self, text: str) -> tuple[int, int] | None:
        """Returns the same of a match at the beginning of the text."""
        if len(text) <= self._short_here or self._is_short_here(text):
            hit = self._compiled.match(text)
            return hit.span() if hit else None
        return (0, len(text)) if self._scan(text, "match") else None

    def prepare(self) -> None:
        """Works out now what texts of usual length cost, instead of at the first of them."""
        self._is_short(" " * (_SURELY_SHORT + 1))
        self._is_short_here(" " * (_SURELY_SHORT + 1))

    def refuse_unbounded(self) -> None:
        """Raises `PatternFault` where it may take long for a short text, and no automaton helps."""
        node = self._tree()
        if has_one(node) or self._held:
            return
        if pattern_cost.from_every_place(node, _MUST_TAKE) > MAX_STEPS:
            raise PatternFault(
                "may take for ever: it repeats what a longer group matched, has an atomic group or"
                " a possessive repeat, or is very long; write it without, or give its repeats an"
                " end such as {0,20}"
            )

    def refuse_slow(self) -> None:
        """Raises `PatternFault` where Python's engine may take many steps at a place of a text."""
        if pattern_cost.of_a_start(self._tree(), MAX_CHARS) > _MAX_STEPS_A_START:
            raise PatternFault(
                "may take long: it repeats what it repeats already, or goes on without end before"
                " what it looks for; give its repeats an end such as {0,20}"
            )

    def _tree(self) -> Node:
        if self._node is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                node = parsed(self.source, self.flags)
            parts = node.parts if isinstance(node, Alternatives) else (node,)
            heads = tuple(pattern_cost.head(part, cased=True) for part in parts)
            self._heads = heads if all(heads) else ()
            self._needed = needed(node)
            if (one := held(node)) is not None:
                self._held = one.test()
            # Last: another thread that sees it uses what was set before.
            self._node = node
        return self._node

    def _is_short(self, text: str) -> bool:
        """Tells whether Python's engine is sure to be done with a search in `MAX_STEPS`."""
        length = _length(text)
        # Commands are short: where one of usual length is cheap, the others need no look.
        for each in (*_USUAL, length):
            if each >= length > self._short and each not in self._steps:
                with allowance.uncounted():
                    steps = self._steps[each] = pattern_cost.of_a_start(self._tree(), each)
                    starts = 1 if pattern_cost.starts_only(self._tree()) else each
                if steps * starts <= MAX_STEPS:
                    self._short = max(self._short, each)
        if length <= self._short:
            return True
        steps = self._steps[length]
        return bool(self._heads) and steps * sum(map(text.count, self._heads)) <= MAX_STEPS

    def _is_short_here(self, text: str) -> bool:
        """Tells whether Python's engine is sure to be done with one place in `MAX_STEPS`."""
        length = _length(text)
        for each in (*_USUAL, length):
            if each >= length > self._short_here and each not in self._steps_here:
                with allowance.uncounted():
                    steps = self._steps_here[each] = pattern_cost.from_one_place(self._tree(), each)
                if steps <= MAX_STEPS:
                    self._short_here = max(self._short_here, each)
        return length <= self._short_here

    def _scan(self, text: str, mode: MatchMode) -> bool:
        node = self._tree()
        if self._needed:
            small = text.lower()
            if not all(any(map(small.__contains__, words)) for words in self._needed):
                return False
        chars = ""
        if self._held is not None:
            chars = "".join(filter(self._held, sorted(set(text))))
            if len(chars) > _MAX_HELD:
                raise allowance.AllowanceSpent
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
                raise allowance.AllowanceSpent from None
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
        raise allowance.AllowanceSpent
    return next(each for each in _LENGTHS if len(text) <= each)


# So short that no pattern takes long.
_SURELY_SHORT = 8
# One for each set of characters that a group may hold, and one for a pattern without such a group.
_MAX_SCANNERS = 16
_MAX_HELD = 64
