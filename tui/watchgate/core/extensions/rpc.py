"""JSON-RPC 2.0 messages: bytes to a message and back, nothing about what they mean."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS

METHOD_NOT_FOUND: Final = -32_601
INVALID_PARAMS: Final = -32_602
NOT_PERMITTED: Final = -32_001
CROWDED: Final = -32_002
_WORDS_LIMIT = 2_000


class RpcError(ValueError):
    """The bytes are no JSON-RPC message."""


class _Request(msgspec.Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: int
    method: str
    params: Any


class _Message(msgspec.Struct, frozen=True):
    id: Any = None
    method: Any = None
    params: Any = None
    result: Any = None
    error: Any = None


class Answered(msgspec.Struct, frozen=True):
    """An answer to one of our requests; `error` in words when it is an error answer."""

    id: Any
    result: Any = None
    error: str | None = None


class Asked(msgspec.Struct, frozen=True):
    """A request of the other side; it wants an answer with the same id."""

    id: Any
    method: str
    params: Any = None


class Told(msgspec.Struct, frozen=True):
    """A notification: wants no answer."""

    method: str


class Refusal(msgspec.Struct, frozen=True):
    """Why a request of the other side is refused."""

    code: int
    message: str


_ENCODER = msgspec.json.Encoder()
_DECODER = decoding.decoder(_Message)


def request(id: int, method: str, params: Any) -> bytes:
    """One request, as the body of a frame."""
    return _ENCODER.encode(_Request("2.0", id, method, params))


def answer(id: Any, result: Any) -> bytes:
    """The answer to a request of the other side; a `Refusal` becomes an error answer."""
    if isinstance(result, Refusal):
        return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "error": result})
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "result": result})


def read(body: bytes) -> Answered | Asked | Told:
    """The message in a frame; raises `RpcError`."""
    try:
        found = _DECODER.decode(body)
    except JSON_FAULTS as fault:
        raise RpcError(f"not a JSON-RPC message: {fault}") from None
    if found.method is None:
        error = None if found.error is None else _words(found.error)
        return Answered(found.id, found.result, error)
    method = found.method if isinstance(found.method, str) else ""
    return Told(method) if found.id is None else Asked(found.id, method, found.params)


def _words(error: Any) -> str:
    if not isinstance(error, dict):
        return "error without words"
    code, message = error.get("code"), error.get("message")
    said = message[:_WORDS_LIMIT] if isinstance(message, str) and message else "without words"
    return f"error {code}: {said}" if type(code) is int else f"error: {said}"
