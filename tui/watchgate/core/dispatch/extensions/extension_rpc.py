r"""JSON-RPC 2.0 messages: bytes to a message and back, nothing about their meaning.

Frames of a byte stream: `Content-Length: n\r\n\r\n` and n bytes, as the language servers do.

A machine without I/O. Source: SynapsCLI's extension protocol 1, with its limits.

The requests that an extension may send, to a small memory of its own while the core runs.

Append takes `content` and, if it likes, `namespace` and `tags`; query takes `namespace`,
`contains`, `tag` and `limit`, newest first. The oldest records make room for new ones.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.dispatch.handlers import Permission

HEADER_LINE_LIMIT: Final = 1_024
BODY_LIMIT: Final = 4 * 1024 * 1024

# What prints to its standard output by mistake often has a colon somewhere.
_NAME = re.compile(rb"[A-Za-z0-9-]+")
_ALONE = re.compile(rb"Content-Length: (\d{1,6})\r\n\r\n", re.IGNORECASE)


class ExtensionFrameError(ValueError):
    """Raised for a stream that cannot be read any further."""

    def __init__(self, detail: str, cause: Literal["protocol", "oversized"] = "protocol") -> None:
        super().__init__(detail)
        self.cause = cause


def encode_frame(body: bytes) -> bytes:
    """Returns the body as a frame; raises `ExtensionFrameError` for one that is too large."""
    if len(body) > BODY_LIMIT:
        raise ExtensionFrameError(
            f"a message of {len(body)} bytes; at most {BODY_LIMIT}", "oversized"
        )
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """A buffer that collects bytes and cuts the bodies of whole frames out of them."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._length: int | None = None
        self._in_body = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the whole bodies; raises `ExtensionFrameError` after the last good one."""
        held = self._held
        if not held and self._length is None:
            # One whole frame at a time is what nearly always comes.
            alone = _ALONE.match(data)
            if alone is not None and alone.end() + int(alone[1]) == len(data):
                yield data[alone.end() :]
                return
        held += data
        while True:
            if self._in_body:
                length = self._length or 0
                if len(held) < length:
                    return
                body = bytes(held[:length])
                del held[:length]
                self._in_body, self._length = False, None
                yield body
            else:
                end = held.find(b"\n", 0, HEADER_LINE_LIMIT)
                if end < 0:
                    if len(held) >= HEADER_LINE_LIMIT:
                        raise ExtensionFrameError(f"a header line over {HEADER_LINE_LIMIT} bytes")
                    return
                line = bytes(held[:end]).removesuffix(b"\r")
                del held[: end + 1]
                self._header(line)

    def _header(self, line: bytes) -> None:
        if not line:
            if self._length is None:
                raise ExtensionFrameError("a frame without Content-Length")
            self._in_body = True
            return
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise ExtensionFrameError(
                f"not a header line: {line[:80].decode('ascii', 'backslashreplace')}"
            )
        if name.lower() != b"content-length":
            return
        digits = value.strip()
        if not digits.isdigit() or self._length is not None:
            raise ExtensionFrameError("a Content-Length that is no single number")
        self._length = int(digits) if len(digits) < 20 else BODY_LIMIT + 1
        if self._length > BODY_LIMIT:
            shown = digits[:20].decode()
            raise ExtensionFrameError(
                f"an answer of {shown} bytes; at most {BODY_LIMIT}", "oversized"
            )


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


RECORDS_LIMIT: Final = 500
QUERY_LIMIT: Final = 100

Name = Annotated[str, msgspec.Meta(max_length=200)]


class MemoryRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One record, as it is appended and as a query returns it."""

    content: Annotated[str, msgspec.Meta(max_length=4_096)]
    namespace: Name = ""
    tags: Annotated[tuple[Name, ...], msgspec.Meta(max_length=16)] = ()


class MemoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query for records; what is not given fits all."""

    namespace: Name | None = None
    contains: str | None = None
    tag: Name | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=QUERY_LIMIT)] = 20

    def fits(self, record: MemoryRecord) -> bool:
        """Returns whether a record is one of them."""
        return (
            self.namespace in (None, record.namespace)
            and (self.contains is None or self.contains in record.content)
            and (self.tag is None or self.tag in record.tags)
        )


_NEEDS: Final[dict[str, Permission]] = {
    "memory.append": "memory.write",
    "memory.query": "memory.read",
}


class ExtensionMemory:
    """The memory of one extension, which answers the extension's requests."""

    def __init__(self, permissions: frozenset[Permission]) -> None:
        self._permissions = permissions
        self._records: deque[MemoryRecord] = deque(maxlen=RECORDS_LIMIT)

    def answer(self, method: str, params: Any) -> Any:
        """Answers a request: its result, or a `RpcRefusal`."""
        needs = _NEEDS.get(method)
        if needs is None:
            return RpcRefusal(METHOD_NOT_FOUND, f"there is no method {method[:80]!r} here")
        if needs not in self._permissions:
            return RpcRefusal(NOT_PERMITTED, f"{method} needs the permission {needs}")
        try:
            if method == "memory.append":
                self._records.append(decoding.convert(params, MemoryRecord))
                return {"ok": True}
            query = decoding.convert(params if params is not None else {}, MemoryQuery)
        except msgspec.ValidationError as fault:
            return RpcRefusal(INVALID_PARAMS, str(fault))
        matches = [record for record in reversed(self._records) if query.fits(record)]
        return {"records": matches[: query.limit]}
