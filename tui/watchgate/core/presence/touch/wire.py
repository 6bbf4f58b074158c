"""The strings and numbers that OpenSSH's formats consist of (RFC 4251, section 5)."""

from __future__ import annotations


class WireFault(ValueError):
    """These bytes are not what they should be; the message says in which way."""


class Fields:
    """Reads one field after the other; raises `WireFault` where the bytes end too early."""

    def __init__(self, content: bytes) -> None:
        self._left = content

    def take(self, size_bytes: int) -> bytes:
        """The next so many bytes."""
        if size_bytes > len(self._left):
            raise WireFault("it is cut short")
        taken, self._left = self._left[:size_bytes], self._left[size_bytes:]
        return taken

    def number(self) -> int:
        """An unsigned number of 32 bits."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """Bytes after their length."""
        return self.take(self.number())

    def end(self) -> None:
        """Raise `WireFault` where something is left."""
        if self._left:
            raise WireFault("there is more of it than there should be")


def packed(content: bytes) -> bytes:
    """Bytes behind their length, as `Fields.string` reads them."""
    return len(content).to_bytes(4, "big") + content
