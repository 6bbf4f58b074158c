"""Letters without which a pattern is in no text, so that most texts need no look at it."""

from __future__ import annotations

from collections.abc import Iterator

from watchgate.core.patterns.cost import EITHER, LETTERS
from watchgate.core.patterns.tree import Choice, Cut, Held, Node, One, Repeat, Sequence

_MAX_CHOICES = 32

Words = tuple[str, ...]


def needed(node: Node) -> tuple[Words, ...]:
    """Sets of words in small letters; of each set any text that fits holds one."""
    match node:
        case Sequence():
            return tuple(_of_parts(node.parts))
        case Choice():
            letters = [max(needed(part), key=_worth, default=()) for part in node.parts]
            words = tuple(dict.fromkeys(word for words in letters for word in words))
            return (words,) if all(letters) and len(words) <= _MAX_CHOICES else ()
        case Repeat() if node.low:
            return needed(node.body)
        case Cut():
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
    one = node.body if isinstance(node, Held) else node
    if not isinstance(one, One):
        return ""
    if one.chars >> 128:
        return ""
    return LETTERS.get(one.chars, "").lower() or EITHER.get(one.chars, "")


def _worth(words: Words) -> tuple[int, int]:
    return min(map(len, words)), -len(words)
