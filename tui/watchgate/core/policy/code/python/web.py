"""Addresses that Python fetches from and sends to."""

from __future__ import annotations

from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.values import PLAIN, Const, Obj, Values, merged, pieces
from watchgate.core.policy.code.reading import Piece, Unknown

_OPENING: Final = ("urllib.request.urlopen", "urllib.request.Request")
_REQUEST: Final = "urllib.request.Request"


def asked(state: State, name: str, given: Call) -> Values | None:
    """Return what functions of `urllib.request` return that ask for an address; None for others."""
    if name not in _OPENING:
        return None
    state.forget(given.flat)
    address = given.at(0, "url")
    data = any(each != Const(None) for each in given.at(1, "data"))
    plain = merged(each for each in address if not isinstance(each, Obj))
    fetches(state, plain, sends=data, method=given.named.get("method", ()))
    for each in address:
        if isinstance(each, Obj) and data:
            state.does("curl", "-d", Unknown(), each.piece)
    return tuple(Obj(_REQUEST, each) for each in pieces(plain)) if name == _REQUEST else PLAIN


def method(state: State, owner: Obj, name: str, given: Call) -> Values | None:
    """Return what a method of a request returns; None for other objects."""
    if owner.kind != _REQUEST:
        return None
    state.forget(given.flat)
    if name == "add_data":
        state.does("curl", "-d", Unknown(), owner.piece)
    return PLAIN


def fetches(state: State, address: Values, *, sends: bool, method: Values = ()) -> None:
    """Note that the code asks for addresses, by a method, and whether it sends something."""
    words: list[Piece] = ["curl"]
    verbs = [each for each in pieces(method) if each not in ("GET", "get")]
    for each in verbs[:1]:
        words += ["-X", each.upper() if isinstance(each, str) else each]
    if sends:
        words += ["-d", Unknown()]
    for each in pieces(address):
        state.does(*words, each)
