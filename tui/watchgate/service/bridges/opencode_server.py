"""An OpenCode server over HTTP: its event stream, its pending questions, and answers to them.

Wire format: the OpenAPI document that `opencode serve` 1.18 shows at `/doc`.

- Server-sent events: the data of each event, whatever pieces the bytes come in. Wire format: the
  event stream of the HTML standard, https://html.spec.whatwg.org/#server-sent-events.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit

import anyio
import msgspec
from anyio.abc import ByteStream

from watchgate.core.base.decoding import JSON_FAULTS

LIMIT_BYTES = 16 * 1024 * 1024


class EventStreamError(ValueError):
    """An event is longer than anything that could be read."""


class EventStream:
    """Cuts bytes into events."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the data of the events that these bytes complete; raises `EventStreamError`."""
        text = self._rest + chunk
        # A carriage return at the very end may be half of a line's end.
        whole, self._rest = (text[:-1], b"\r") if text.endswith(b"\r") else (text, b"")
        *lines, last = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = last + self._rest
        events = [data for line in lines if (data := self._line(line)) is not None]
        if len(self._rest) + self._size > self._limit_bytes:
            raise EventStreamError(f"an event of over {self._limit_bytes} bytes")
        return events

    def _line(self, line: bytes) -> bytes | None:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
                self._size += len(value)
            return None
        event = b"\n".join(self._data) if self._data else None
        self._data, self._size = [], 0
        return event


REQUEST_S = 15.0
SILENCE_S = 60.0
HEAD_LIMIT_BYTES = 64 * 1024
BODY_LIMIT_BYTES = 64 * 1024 * 1024
_LENGTH = re.compile(r"[0-9]{1,15}", re.ASCII)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;|$)")
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class ServerUnreachable(Exception):
    """The server cannot be reached or broke off; the message says how."""


class ServerRefused(Exception):
    """The server answered with another status than success; `status` is that number."""

    def __init__(self, status: int, path: str) -> None:
        self.status = status
        super().__init__(f"{path} was answered with status {status}")


class OpenCodeServer:
    """One server; a `password` is sent by HTTP basic authentication."""

    def __init__(self, url: str, password: str = "", user: str = "opencode") -> None:
        """Raises `ValueError` for a URL that names no server."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server: use http://HOST:PORT")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._secure else 80)
        self._base = parts.path.rstrip("/")
        self.where = f"{parts.scheme}://{self._host}:{self._port}"
        name, secret = parts.username or user, password or parts.password or ""
        token = base64.b64encode(f"{name}:{secret}".encode()).decode()
        self._auth = f"Authorization: Basic {token}\r\n" if secret else ""

    async def get(self, path: str, **query: str) -> Any:
        """Returns the decoded content of a path; raises `ServerUnreachable`, `Refused`."""
        return await self._whole("GET", path, query, None)

    async def post(self, path: str, body: Mapping[str, Any] | None, **query: str) -> Any:
        """Posts a JSON body; raises `ServerUnreachable`, `Refused`."""
        return await self._whole("POST", path, query, msgspec.json.encode(body or {}))

    async def events(self, path: str) -> AsyncGenerator[bytes]:
        """Yields each event's data until the server ends; raises `ServerUnreachable`, `Refused`.

        OpenCode sends a heartbeat: a stream that is silent for long is dead.
        """
        stream = EventStream()
        async with self._answer("GET", path, {}, None) as pieces:
            while True:
                try:
                    with anyio.fail_after(SILENCE_S):
                        piece = await anext(pieces, None)
                except TimeoutError:
                    raise ServerUnreachable(f"{self.where} fell silent") from None
                if piece is None:
                    return
                for event in stream.feed(piece):
                    yield event

    async def _whole(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None
    ) -> Any:
        whole = bytearray()
        try:
            with anyio.fail_after(REQUEST_S):
                async with self._answer(method, path, query, body) as pieces:
                    async for piece in pieces:
                        whole += piece
                        if len(whole) > BODY_LIMIT_BYTES:
                            raise ServerUnreachable(f"{self.where}{path} answers without end")
        except TimeoutError:
            raise ServerUnreachable(f"{self.where} does not answer") from None
        try:
            return msgspec.json.decode(whole) if whole else None
        except JSON_FAULTS:
            raise ServerUnreachable(f"{self.where}{path} answers with no JSON") from None

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        target = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        sent = f"{method} {target} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n{self._auth}"
        sent += "Connection: close\r\nAccept: application/json, text/event-stream\r\n"
        if body is not None:
            sent += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        try:
            async with await self._connected() as stream:
                await stream.send(f"{sent}\r\n".encode() + (body or b""))
                status, headers, rest = await _head(stream)
                if not 200 <= status < 300:
                    raise ServerRefused(status, path)
                yield _body(stream, headers, rest)
        except _GONE as error:
            raise ServerUnreachable(
                f"{self.where}: {str(error) or 'the connection broke'}"
            ) from error

    async def _connected(self) -> ByteStream:
        if self._secure:
            return await anyio.connect_tcp(self._host, self._port, tls=True)
        return await anyio.connect_tcp(self._host, self._port)


async def _head(stream: ByteStream) -> tuple[int, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > HEAD_LIMIT_BYTES:
            raise ServerUnreachable("a header without end")
        data += await stream.receive()
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    try:
        status = int(first.split(" ")[1])
    except (IndexError, ValueError):
        raise ServerUnreachable("that is no HTTP server") from None
    pairs = (line.partition(":") for line in lines)
    return status, {name.lower(): value.strip().lower() for name, _, value in pairs}, rest


async def _body(
    stream: ByteStream, headers: Mapping[str, str], rest: bytes
) -> AsyncIterator[bytes]:
    """Yields the body's bytes: in chunks, of a given length, or up to the connection's end."""
    if headers.get("transfer-encoding") == "chunked":
        async for piece in _chunks(stream, rest):
            yield piece
        return
    length = headers.get("content-length", "")
    left = int(length) if _LENGTH.fullmatch(length) else None
    while left is None or left > 0:
        if not rest:
            try:
                rest = await stream.receive()
            except anyio.EndOfStream:
                if left is not None:
                    raise
                return
        piece, rest = rest[:left], b""
        left = None if left is None else left - len(piece)
        yield piece


async def _chunks(stream: ByteStream, rest: bytes) -> AsyncIterator[bytes]:
    while True:
        while b"\r\n" not in rest:
            if len(rest) > HEAD_LIMIT_BYTES:
                raise ServerUnreachable("a chunk's size without end")
            rest += await stream.receive()
        line, _, rest = rest.partition(b"\r\n")
        size = _CHUNK.match(line)
        if size is None:
            raise ServerUnreachable("a broken chunk")
        left = int(size[1], 16)
        if left == 0:
            return
        while left:
            if not rest:
                rest = await stream.receive()
            piece, rest = rest[:left], rest[left:]
            left -= len(piece)
            yield piece
        while len(rest) < 2:
            rest += await stream.receive()
        rest = rest[2:]
