"""Builtins that hand on what they get, or lead to something by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from watchgate.core.policy.code.python import calls
from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.state import State, items, module
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Many,
    Seq,
    Value,
    Values,
    many,
    merged,
    pieces,
    seq,
    text_of,
)
from watchgate.core.policy.code.unread import Unread

if TYPE_CHECKING:
    from watchgate.core.policy.code.python.expressions import Expressions


def made(reader: Expressions, name: str, given: Call) -> Values | None:
    """Return what such a builtin returns; None for any other function."""
    makes = _MAKES.get(name)
    return makes(reader, given) if makes else None


def _collected(reader: Expressions, given: Call) -> Values:
    reader.state.forget(v for values in given.named.values() for v in values)
    first = given.at(0)
    return (many(items(first, reader.state) if first else PLAIN, _sites(given)),)


def _sites(given: Call) -> tuple[int, ...]:
    """The sites of what a copy is made of, with which it may be confused."""
    return tuple(sorted({s for v in given.flat if isinstance(v, Seq | Many) for s in v.sites}))


def _listed(reader: Expressions, given: Call) -> Values:
    first = given.at(0)
    if len(first) == 1 and isinstance(first[0], Seq):
        return first
    return _collected(reader, given)


def _chosen(reader: Expressions, given: Call) -> Values:
    reader.state.forget(v for values in given.named.values() for v in values)
    inside = items(given.at(0), reader.state)
    others = [value for values in given.positional for value in values]
    return merged((*inside, *(others if len(given.positional) > 1 else ())))


def _filtered(reader: Expressions, given: Call) -> Values:
    reader.state.forget(given.at(0))
    return (many(items(given.at(1), reader.state)),)


def _counted(reader: Expressions, given: Call) -> Values:
    return (many((seq((PLAIN, items(given.at(0), reader.state))),)),)


def _paired(reader: Expressions, given: Call) -> Values:
    return (many((seq(tuple(items(each, reader.state) for each in given.positional)),)),)


def _mapped(reader: Expressions, given: Call) -> Values:
    inner = tuple(items(values, reader.state) for values in given.positional[1:])
    return (many(calls.called(reader, given.at(0), Call(inner)) or PLAIN),)


def _dictionary(reader: Expressions, given: Call) -> Values:
    state = reader.state
    arguments: list[Value] = [
        v for values in (*given.named.values(), *given.spread) for v in values
    ]
    for each in (item for values in given.positional for item in items(values, state)):
        # Of pairs, both parts.
        arguments += items((each,), state) if isinstance(each, Seq) else (each,)
    return (many(merged(arguments) or PLAIN, _sites(given)),)


def _text(reader: Expressions, given: Call) -> Values:
    reader.state.shown(given.flat)
    plain = len(given.values) == 1 == len(given.positional)
    return merged(map(text_of, pieces(given.at(0)))) if plain else PLAIN


def _attribute(reader: Expressions, given: Call) -> Values:
    fallback = list(given.at(2))
    for name in given.at(1):
        if not isinstance(name, Const) or not isinstance(name.value, str):
            raise Unread("reads an attribute whose name is only known at run time")
        fallback += reader.attribute(given.at(0), name.value)
    return merged(fallback)


def _kind(_reader: Expressions, given: Call) -> Values:
    if len(given.values) != 1:
        raise Unread("makes a class in a way that is not followed")
    return PLAIN


def _imported(reader: Expressions, given: Call) -> Values:
    return merged(
        value for name in _modules(reader.state, given) for value in module(name.partition(".")[0])
    )


def _module(reader: Expressions, given: Call) -> Values:
    return merged(value for name in _modules(reader.state, given) for value in module(name))


def _modules(state: State, given: Call) -> list[str]:
    values = []
    for each in given.at(0, "name"):
        if not isinstance(each, Const) or not isinstance(each.value, str):
            raise Unread("imports a module whose name is only known at run time")
        state.imports(each.value)
        values.append(each.value)
    return values


_MAKES: Final[Mapping[str, Callable[[Expressions, Call], Values]]] = {
    "builtins.list": _listed,
    "builtins.tuple": _listed,
    **dict.fromkeys(
        (
            "builtins.set",
            "builtins.frozenset",
            "builtins.sorted",
            "builtins.reversed",
            "builtins.iter",
        ),
        _collected,
    ),
    **dict.fromkeys(("builtins.next", "builtins.min", "builtins.max"), _chosen),
    "builtins.filter": _filtered,
    "builtins.enumerate": _counted,
    "builtins.zip": _paired,
    "builtins.map": _mapped,
    "builtins.dict": _dictionary,
    "builtins.str": _text,
    "builtins.getattr": _attribute,
    "builtins.type": _kind,
    "builtins.__import__": _imported,
    "importlib.import_module": _module,
    "importlib.__import__": _imported,
}
