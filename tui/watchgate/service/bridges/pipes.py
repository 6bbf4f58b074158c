"""Reading and writing descriptors that others share, so that they stay as blocking as they are."""

from __future__ import annotations

import os

import anyio

CHUNK_BYTES = 64 * 1024
PIECE_BYTES = 4096
"""Bytes that a writable pipe or socket takes without blocking (PIPE_BUF on Linux)."""


async def read(descriptor: int) -> bytes:
    """Returns some bytes, none at the end; raises `OSError`."""
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:
        await anyio.lowlevel.checkpoint()  # a file or device: always ready, and not to be watched
    return os.read(descriptor, CHUNK_BYTES)


class PipeWriter:
    """The input of one side; lines of several tasks never mix.

    `lock` is held for a line in pieces.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.lock = anyio.Lock()
        self.broken = False

    async def line(self, data: bytes) -> None:
        """Writes a whole line; nothing once the other end is gone."""
        async with self.lock:
            await self.piece(data)

    async def piece(self, data: bytes) -> None:
        """Writes some bytes, while `lock` is held."""
        left = memoryview(data)
        while left and not self.broken:
            try:
                await _writable(self.descriptor)
                left = left[os.write(self.descriptor, left[:PIECE_BYTES]) :]
            except OSError:
                self.broken = True

    def close(self) -> None:
        """Closes the descriptor, so that the other end reads the end of the stream."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.broken, self.descriptor = True, -1


async def _writable(descriptor: int) -> None:
    try:
        await anyio.wait_writable(descriptor)
    except PermissionError:
        await anyio.lowlevel.checkpoint()
