r"""JSON-RPC 2.0 messages: bytes to a message and back, nothing about their meaning.

- Frames of a byte stream: `Content-Length: n\r\n\r\n` and n bytes, as the language servers do. A
  machine without I/O. Source: SynapsCLI's extension protocol 1, with its limits.
- The requests that an extension may send, to a small memory of its own while the core runs. Append
  takes `content` and, if it likes, `namespace` and `tags`; query takes `namespace`, `contains`,
  `tag` and `limit`, newest first. The oldest records make room for new ones.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS

METHOD_NOT_FOUND: Final = -32_601
INVALID_PARAMS: Final = -32_602
NOT_PERMITTED: Final = -32_001
CROWDED: Final = -32_002
_WORDS_LIMIT = 2_000


class RpcError(ValueError):
    """Raised for bytes that are no JSON-RPC message."""


class _RpcRequest(msgspec.Struct, frozen=True):
    jsonrpc: Literal["2.0"]
    id: int
    method: str
    params: Any


class _RpcMessage(msgspec.Struct, frozen=True):
    id: Any = None
    method: Any = None
    params: Any = None
    result: Any = None
    error: Any = None


class PeerResponse(msgspec.Struct, frozen=True):
    """An answer to one of our requests; `error` in words when it is an error answer."""

    id: Any
    result: Any = None
    error: str | None = None


class PeerRequest(msgspec.Struct, frozen=True):
    """A request of the other side; it wants an answer with the same id."""

    id: Any
    method: str
    params: Any = None


class PeerNotification(msgspec.Struct, frozen=True):
    """A notification of the other side, which wants no answer."""

    method: str


class RpcRefusal(msgspec.Struct, frozen=True):
    """The error answer to a request of the other side."""

    code: int
    message: str


_ENCODER = msgspec.json.Encoder()
_DECODER = decoding.decoder(_RpcMessage)


def encode_request(id: int, method: str, params: Any) -> bytes:
    """Encodes one request, as the body of a frame."""
    return _ENCODER.encode(_RpcRequest("2.0", id, method, params))


def encode_answer(id: Any, result: Any) -> bytes:
    """Encodes the answer to a request of the other side; a `RpcRefusal` becomes an error answer."""
    if isinstance(result, RpcRefusal):
        return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "error": result})
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "result": result})


def read_message(body: bytes) -> PeerResponse | PeerRequest | PeerNotification:
    """Reads the message in a frame; raises `RpcError`."""
    try:
        decoded = _DECODER.decode(body)
    except JSON_FAULTS as fault:
        raise RpcError(f"not a JSON-RPC message: {fault}") from None
    if decoded.method is None:
        error = None if decoded.error is None else _words(decoded.error)
        return PeerResponse(decoded.id, decoded.result, error)
    method = decoded.method if isinstance(decoded.method, str) else ""
    return (
        PeerNotification(method)
        if decoded.id is None
        else PeerRequest(decoded.id, method, decoded.params)
    )


def _words(error: Any) -> str:
    if not isinstance(error, dict):
        return "error without words"
    code, message = error.get("code"), error.get("message")
    text = message[:_WORDS_LIMIT] if isinstance(message, str) and message else "without words"
    return f"error {code}: {text}" if type(code) is int else f"error: {text}"
