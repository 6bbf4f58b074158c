r"""Frames of a byte stream: `Content-Length: n\r\n\r\n` and n bytes, as the language servers do.

A machine without I/O. Source: SynapsCLI's extension protocol 1, with its limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

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
