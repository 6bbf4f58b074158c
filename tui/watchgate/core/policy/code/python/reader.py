"""A piece of Python becomes what it does; see `reading.Reading`."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Final

from watchgate.core.patterns.allowance import check
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.statements import Statements, bound_names
from watchgate.core.policy.code.reading import Reading
from watchgate.core.policy.code.unread import Unread

_MAX_PASSES: Final = 9
# The parser goes down a level for each of these, and may run out of the stack of its thread.
_NESTS: Final = re.compile(
    r"\*\*|\b(?:not|lambda|else|elif|await|yield|if|for|while|try|with|def)\b"
)
_MAX_NESTS: Final = 400
_SIGNS: Final = re.compile(r"(?:[-+~]\s?){40}")
_MAX_BRACKETS: Final = 60
# A file may say in its first two lines how its bytes are to be read, which is another text then.
_ENCODED: Final = re.compile(r"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=][ \t]*(?!utf-?8\b)[-\w.]")


def read(code: str) -> Reading:
    """Tell what Python does."""
    if _is_too_deep(code):
        return Reading(unread="Runs Python that is nested deeper than anybody reads")
    if _ENCODED.match(code):
        return Reading(unread="Runs Python that is written in another encoding")
    check()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        return _reading(tree)
    except (SyntaxError, ValueError):
        return Reading(unread="Runs Python that cannot be parsed")
    except (RecursionError, MemoryError):
        return Reading(unread="Runs Python that is nested deeper than anybody reads")


def _reading(tree: ast.Module) -> Reading:
    state = State()
    state.names = dict.fromkeys(bound_names(tree), ())
    statements = Statements(state)
    while True:
        check()
        state.passes += 1
        state.changed, state.unread = False, ""
        state.commands.clear()
        state.stars.clear()
        try:
            statements.all(tree.body)
        except Unread as why:
            state.doubt(str(why))
        if not state.changed:
            break
        if state.passes == _MAX_PASSES:
            state.doubt("changes its names in more ways than anybody follows")
            break
    unread = f"Runs Python that {state.unread}" if state.unread else ""
    return Reading(tuple(state.commands), unread, tuple(state.loads))


def _is_too_deep(code: str) -> bool:
    depth = deepest = 0
    for char in code:
        if char in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]}":
            depth -= 1
    nests = sum(1 for _ in _NESTS.finditer(code))
    return deepest > _MAX_BRACKETS or nests > _MAX_NESTS or bool(_SIGNS.search(code))
