"""Calls of the functions and classes that the code defines itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.values import PLAIN, Rest, Values, many, merged


def called(state: State, number: int, given: Call) -> Values:
    """Return what a function of the code returns: its parameters get what it is given."""
    node = state.locals[number]
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__"):
                _bind(state, each.args, given, skip=1)
        state.forget(given.flat)
        return PLAIN
    _bind(state, node.args, given)
    functions = state.names.get(f"({number})", ())
    # What an asynchronous function returns is first something to wait for.
    return (
        functions
        if functions and not isinstance(node, ast.AsyncFunctionDef)
        else (*functions, *PLAIN)
    )


def _bind(state: State, to: ast.arguments, given: Call, skip: int = 0) -> None:
    places = [each.arg for each in (*to.posonlyargs, *to.args)][skip:]
    known = {*places, *(each.arg for each in to.kwonlyargs)}
    for place, values in enumerate(given.positional):
        rest = merged(item for v in values if isinstance(v, Rest) for item in v.items)
        if rest:
            _all_get(state, places[place:], to.vararg, rest)
        elif place < len(places):
            state.assign(places[place], values)
        else:
            _all_get(state, (), to.vararg, values)
    for name, values in given.named.items():
        named = (name,) if name in known else ()
        _all_get(state, named, None if named else to.kwarg, values)
    spread = merged(value for values in given.spread for value in values)
    if spread:
        _all_get(state, sorted(known), to.kwarg, spread)


def _all_get(state: State, named: Sequence[str], rest: ast.arg | None, values: Values) -> None:
    """Give these parameters a value, and the one that takes what is over."""
    for name in named:
        state.assign(name, values)
    if rest is not None:
        state.assign(rest.arg, (many(values),))
