"""Assignments: the names, places and attributes that get values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.python.python_processes import sets_variable
from watchgate.core.policy.code.python.python_state import is_environment, items
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    Foreign,
    Local,
    Many,
    Obj,
    Ref,
    RestOfValues,
    Seq,
    Values,
    many,
    merged,
)

if TYPE_CHECKING:
    from watchgate.core.policy.code.python.python_state import ExpressionReader


def bind(reader: ExpressionReader, target: ast.expr, values: Values) -> None:
    """Gives what stands on the left of an assignment its values."""
    match target:
        case ast.Name(id=name):
            reader.state.assign(name, values)
        case ast.Starred(value=within):
            bind(reader, within, (many(values),))
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _bind_each(reader, targets, values)
        case ast.Attribute(value=owner, attr=attribute):
            _set_attribute(reader, reader.of(owner), attribute, values)
        case ast.Subscript(value=owner, slice=index):
            _set_item(reader, owner, index, values)
        case _:
            raise UnreadCode("assigns to something that is not followed")


def _bind_each(reader: ExpressionReader, targets: Sequence[ast.expr], values: Values) -> None:
    starred = any(isinstance(each, ast.Starred) for each in targets)
    for value in values:
        if isinstance(value, Seq) and len(value.items) == len(targets) and not starred:
            pairs = [*zip(targets, value.items, strict=True)]
        else:
            inside = items((value,), reader.state)
            pairs = [(target, inside) for target in targets]
        for target, given in pairs:
            flat = [
                v
                for each in given
                for v in (each.items if isinstance(each, RestOfValues) else (each,))
            ]
            bind(reader, target, merged(flat) or PLAIN)


def _set_attribute(
    reader: ExpressionReader, owners: Values, attribute: str, values: Values
) -> None:
    for owner in owners:
        if isinstance(owner, Ref | Foreign | Obj | Local):
            reader.state.forget(values)
        if isinstance(owner, Ref) or attribute.startswith("__"):
            raise UnreadCode(f"changes {attribute} of what other code uses")
    reader.state.assign(f".{attribute}", values)


def _set_item(reader: ExpressionReader, owner: ast.expr, index: ast.expr, values: Values) -> None:
    state, at = reader.state, reader.indices(index)
    for each in reader.of(owner):
        if is_environment(each):
            sets_variable(state, at, values)
        elif isinstance(each, Ref):
            raise UnreadCode(f"changes {each.name}, which other code uses")
        elif isinstance(each, Seq | Many):
            state.adds(each, merged((*values, *at)))
        else:
            state.forget(values)
