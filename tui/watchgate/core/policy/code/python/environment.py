"""The environment of the process, as Python reads and sets it."""

from __future__ import annotations

from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.state import State, is_environment
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Obj,
    Text,
    Values,
    many,
    merged,
    pieces,
    seq,
    shown_text,
)
from watchgate.core.policy.code.reading import Unknown
from watchgate.core.policy.code.unread import Unread

_READING: Final = ("get", "pop", "setdefault")
_LISTING: Final = ("keys", "values", "items")

__all__ = ["is_environment", "of_environment", "reads_variable", "sets_variable"]


def of_environment(state: State, name: str, given: Call) -> Values:
    """Return what a method of the environment, or of a copy of it, returns."""
    if name in _READING:
        reads_variable(state, given.at(0, "key"))
        return merged((Text(), *given.at(1, "default")))
    if name == "copy":
        return (Obj("environ"),)
    if name in _LISTING:
        state.does("printenv")
        return (many((seq(((Text(),), (Text(),))), Text())),)
    if name == "update" and not given.positional and not given.spread:
        for variable, values in given.named.items():
            sets_variable(state, (Const(variable),), values)
        return PLAIN
    raise Unread(f"calls {name} of the environment")


def reads_variable(state: State, named: Values) -> None:
    """Note that the code reads a variable of the environment."""
    for each in pieces(named):
        state.does("printenv", each)


def sets_variable(state: State, named: Values, values: Values) -> None:
    """Note that the code sets a variable of the environment, for what it starts."""
    state.forget(values)
    for name in pieces(named):
        if isinstance(name, Unknown):
            raise Unread("sets a variable that is only known at run time")
        for each in pieces(values):
            text = f"{name}={shown_text(each)}"
            state.does("export", text if isinstance(each, str) else Unknown(text))
