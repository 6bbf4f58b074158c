"""Values that the names and expressions of a piece of Python may stand for.

Nothing is run: a value is a set of alternatives, each of which is known, partly known, or plain
data that cannot do anything by itself.

- The arguments of a call.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Piece, UnknownWord, UnreadCode

MAX_ALTERNATIVES: Final = 8
_MAX_WEIGHT: Final = 200
_MAX_SITES: Final = 50

Sites = tuple[int, ...]


class Const(msgspec.Struct, frozen=True):
    """A constant."""

    value: str | bytes | float | int | bool | None


class KnownText(msgspec.Struct, frozen=True):
    """A text of which a part is known; `UNKNOWN_TEXT` stands for the others."""

    text: str = UNKNOWN_TEXT


class Seq(msgspec.Struct, frozen=True):
    """A list or tuple of so many items.

    `weight` is how many values are in it, at any depth. `sites` are the numbers of the places in
    the code that make it, by which what is added later is noted; none where that is unknown.
    """

    items: tuple[Values, ...]
    weight: int
    sites: Sites = ()


class Many(msgspec.Struct, frozen=True):
    """A collection of any number of items, each of which is one of these; or an iterator.

    `weight` and `sites` as for `Seq`.
    """

    items: Values
    weight: int
    sites: Sites = ()


class RestOfValues(msgspec.Struct, frozen=True):
    """Any number of items within a `Seq`, each of which is one of these."""

    items: Values


class Ref(msgspec.Struct, frozen=True):
    """A module, or a function or class of one, by its dotted name."""

    name: str


class Obj(msgspec.Struct, frozen=True):
    """An object of a followed class; `piece` is the path or address that it stands for."""

    kind: str
    piece: Piece = ""


class Local(msgspec.Struct, frozen=True):
    """A function or class that the code defines, by its number."""

    number: int


class Plain(msgspec.Struct, frozen=True):
    """Data of which nothing is known but that it does nothing."""


class Foreign(msgspec.Struct, frozen=True):
    """Something of a module that is no part of Python."""

    name: str


Value = Const | KnownText | Seq | Many | RestOfValues | Ref | Obj | Local | Plain | Foreign
Values = tuple[Value, ...]

PLAIN: Final[Values] = (Plain(),)


def seq(items: Iterable[Values], sites: Sites = ()) -> Seq | Many:
    """A list or tuple; one that is too large for anybody to follow as a collection of its items."""
    merged_values = tuple(items)
    weight = 1 + sum(map(_weight, merged_values))
    if weight <= _MAX_WEIGHT:
        return Seq(merged_values, weight, sites)
    different = {id(values): values for values in merged_values}.values()
    return many((value for values in different for value in values), sites)


def many(items: Iterable[Value], sites: Sites = ()) -> Many:
    """A collection of any number of these; of a large one, what is in them at any depth."""
    inner = merged(items)
    weight = 1 + _weight(inner)
    if weight > _MAX_WEIGHT:
        sites = _sites(sites, inner)
        inner = leaves(inner)
        weight = 1 + len(inner)
    return Many(inner, weight, sites)


def _weight(values: Values) -> int:
    weight = 0
    for each in values:
        match each:
            case Seq() | Many():
                weight += each.weight
            case RestOfValues(items=items):
                weight += _weight(items)
            case _:
                weight += 1
    return weight


def merged(values: Iterable[Value]) -> Values:
    """The values, each once; of too many, texts and collections as one of each."""
    distinct = tuple(dict.fromkeys(map(_typed, values)))
    if len(distinct) <= MAX_ALTERNATIVES:
        return tuple(value for _, value in distinct)
    return widened(value for _, value in distinct)


def widened(values: Iterable[Value]) -> Values:
    """The values with one unknown text for all texts, and one collection for all collections."""
    distinct = dict.fromkeys(values)
    texts: Values = (
        (KnownText(),) if any(isinstance(each, Const | KnownText) for each in distinct) else ()
    )
    collections = [each for each in distinct if isinstance(each, Seq | Many)]
    inner = leaves(collections)
    others = [each for each in distinct if not isinstance(each, Const | KnownText | Seq | Many)]
    if len(others) > MAX_ALTERNATIVES:
        raise UnreadCode("gives a name more meanings than anybody follows")
    collected: Values = (
        (many((*inner, KnownText()), _sites((), collections)),) if collections else ()
    )
    return (*others, *texts, *collected)


def _sites(known: Sites, values: Iterable[Value]) -> Sites:
    """The sites of all collections in these, at any depth."""
    known_values = set(known)
    waiting = list(values)
    while waiting:
        match waiting.pop():
            case Seq(items=items, sites=sites):
                known_values.update(sites)
                waiting += (each for item in items for each in item)
            case Many(items=inner, sites=sites):
                known_values.update(sites)
                waiting += inner
            case RestOfValues(items=inner):
                waiting += inner
            case _:
                pass
    if len(known_values) > _MAX_SITES:
        raise UnreadCode("has collections in more collections than anybody follows")
    return tuple(sorted(known_values))


def leaves(values: Iterable[Value]) -> Values:
    """Returns the values inside these at any depth, texts as one that is not known."""
    distinct: dict[Value, None] = {}
    waiting = list(values)
    while waiting:
        match waiting.pop():
            case Seq(items=items):
                waiting += (each for item in items for each in item)
            case Many(items=inner) | RestOfValues(items=inner):
                waiting += inner
            case Const():
                distinct[KnownText()] = None
            case value:
                distinct[value] = None
    if len(distinct) >= MAX_ALTERNATIVES:
        raise UnreadCode("gives a name more meanings than anybody follows")
    return tuple(distinct)


def _typed(value: Value) -> tuple[str, Value]:
    # To Python, True, 1 and 1.0 are the same key.
    return (type(value.value).__name__ if isinstance(value, Const) else "", value)


def items_of(values: Values) -> Values:
    """Returns the values that a loop over these gets."""
    return merged(item for value in values for item in _items(value))


def _items(value: Value) -> Iterator[Value]:
    match value:
        case Seq(items=items):
            for item in items:
                for each in item:
                    yield from each.items if isinstance(each, RestOfValues) else (each,)
        case Many(items=items) | RestOfValues(items=items):
            yield from items
        case Foreign():
            yield value
        case Const(value=str()) | KnownText():
            yield KnownText()
        case Const() | Plain() | Obj(kind="file" | "sqlite3.Connection"):
            yield Plain()
        case _:
            raise UnreadCode("goes over something that is not followed")


def pieces(values: Values) -> tuple[Piece, ...]:
    """The words that a value may be where a path, an address or an argument is wanted."""
    return tuple(dict.fromkeys(map(_piece, values)))


def _piece(value: Value) -> Piece:
    match value:
        case Const(value=constant):
            return _constant(constant)
        case KnownText(text=text):
            return UnknownWord(text)
        case Obj(piece=piece):
            return piece
        case Ref(name="sys.executable"):
            return "python3"
        case Ref(name=name) if name.startswith("signal.SIG"):
            return name.removeprefix("signal.SIG")
        case _:
            return UnknownWord(many=isinstance(value, RestOfValues))


def _constant(value: str | bytes | float | bool | None) -> Piece:
    match value:
        case str():
            return value
        case bytes():
            return value.decode("utf-8", "replace")
        case bool() | None:
            return UnknownWord()
        case _:
            return str(value)


def joined(first: Piece, second: Piece, sign: str = "") -> Piece:
    """Two words as one."""
    text = shown_text(first) + sign + shown_text(second)
    known = isinstance(first, str) and isinstance(second, str)
    return text if known else UnknownWord(text)


def path_joined(folder: Piece, name: Piece) -> Piece:
    """A name in a folder, as `os.path.join` has it."""
    text = posixpath.join(shown_text(folder), shown_text(name))
    return text if isinstance(folder, str) and isinstance(name, str) else UnknownWord(text)


def text_of(piece: Piece) -> Value:
    """A word as a text."""
    return Const(piece) if isinstance(piece, str) else KnownText(piece.text)


def shown_text(piece: Piece) -> str:
    """The text that stands for a word."""
    return piece if isinstance(piece, str) else piece.text


class CallArguments(msgspec.Struct, frozen=True):
    """The arguments of a call; `spread` are the values of those given as `**x`."""

    positional: tuple[Values, ...] = ()
    named: dict[str, Values] = {}
    spread: tuple[Values, ...] = ()

    @property
    def values(self) -> tuple[Values, ...]:
        """All of them."""
        return (*self.positional, *self.named.values(), *self.spread)

    @property
    def flat(self) -> Values:
        """Returns the values that any of the arguments may have, in one row."""
        return tuple(value for values in self.values for value in values)

    @property
    def is_spread(self) -> bool:
        """Tells whether there may be others than those that stand here."""
        rest = any(
            isinstance(value, RestOfValues) for values in self.positional for value in values
        )
        return rest or bool(self.spread)

    def at(self, place: int, name: str = "") -> Values:
        """The argument at a place, or of a name; nothing where it is not given."""
        if place < len(self.positional):
            return self.positional[place]
        return self.named.get(name, ())
