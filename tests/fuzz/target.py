"""What is fuzzed: one way in for bytes from outside, and what must hold of it whatever they are."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One decoder: `feed` takes bytes in and raises where a property does not hold.

    `refusals` are the exceptions by which it may turn them down; any other is a finding. `seeds`
    are small inputs that it takes, from which others are made; `found` are inputs over which it
    once failed.
    """

    feed: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = ()
    found: tuple[bytes, ...] = ()

    def takes(self, data: bytes) -> bool:
        """Whether these bytes were taken rather than refused; raises where neither is so."""
        try:
            self.feed(data)
        except self.refusals:
            return False
        return True


class Broken(AssertionError):
    """A property of a target that does not hold; the message says which."""


def demand(holds: object, what: str) -> None:
    """Raises `Broken` unless it holds."""
    if not holds:
        raise Broken(what)


def text_of(data: bytes) -> str:
    """Bytes as text that may hold anything that a text can, half surrogate pairs too."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
