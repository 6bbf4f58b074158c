"""Turn bytes and plain values into the program's types, in as many threads as there are.

msgspec works out how to read a type when the type is first read, and shows other threads what it
has worked out so far: a second thread that reads the same type in that moment ends the whole
process (a segmentation fault with 0.22.0, where the machine is busy). So a type is worked out
under a lock before it is read, and everything in the program reads by this module.

- The errors that decoding JSON from outside may raise.
- The depth of a value: what is encoded again and again must stay far from the limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any, Final, TypeVar, overload

import msgspec

JSON_FAULTS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Of bytes: no JSON or another shape, no UTF-8 within a text, nested too deeply."""


DEEPEST = 200
_NESTS = (dict, list)


def too_deep(value: dict[str, Any], levels: int = DEEPEST) -> bool:
    """Returns whether lists and objects are nested in each other over more than so many levels."""
    layer = _nested(value.values())
    for _ in range(levels - 1):
        if not layer:
            return False
        layer = [part for whole in layer for part in _parts(whole)]
    return bool(layer)


def _parts(whole: Any) -> list[Any]:
    return _nested(whole.values() if isinstance(whole, dict) else whole)


def _nested(parts: Iterable[Any]) -> list[Any]:
    return [part for part in parts if isinstance(part, _NESTS)]


T = TypeVar("T")
Kind = TypeVar("Kind")

_working_out = Lock()
_worked_out: set[Any] = set()


def ready(kind: Kind) -> Kind:
    """The type itself, once msgspec has worked out how to read it and every type within it."""
    if kind not in _worked_out:
        with _working_out:
            msgspec.json.Decoder(kind)
            _worked_out.add(kind)
    return kind


@overload
def convert(value: Any, kind: type[T], *, from_attributes: bool = ...) -> T: ...
@overload
def convert(value: Any, kind: Any, *, from_attributes: bool = ...) -> Any: ...
def convert(value: Any, kind: Any, *, from_attributes: bool = False) -> Any:
    """The plain value as one of a type; raises `msgspec.ValidationError`."""
    return msgspec.convert(value, ready(kind), from_attributes=from_attributes)


@overload
def decode(text: bytes | str | msgspec.Raw, kind: type[T]) -> T: ...
@overload
def decode(text: bytes | str | msgspec.Raw, kind: Any) -> Any: ...
def decode(text: bytes | str | msgspec.Raw, kind: Any) -> Any:
    """The JSON text as a value of a type; raises `msgspec.DecodeError`."""
    return msgspec.json.decode(text, type=ready(kind))


@overload
def decoder(kind: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """A decoder of JSON texts of a type, for places that read very many."""
    return msgspec.json.Decoder(ready(kind))
