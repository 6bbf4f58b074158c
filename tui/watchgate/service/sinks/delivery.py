"""The interface to a sink's destination, and its way of failing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Then = Literal["retry", "drop", "drop-all"]


class Undelivered(Exception):
    """A delivery failed after the first `sent` of its entries had arrived.

    `then` is the fate of the rest: `retry` after a pause, `drop` them, or `drop-all` that waits
    because nobody is there. `quiet`: it is counted, but not reported.
    """

    def __init__(self, why: str, *, then: Then, sent: int = 0, quiet: bool = False) -> None:
        self.why = why
        self.then: Then = then
        self.sent = sent
        self.quiet = quiet
        super().__init__(why)


class Delivery(Protocol):
    """The way to one destination. An entry is the lines of one record, each with its newline."""

    @property
    def at_once(self) -> int:
        """Returns the number of entries that one `send` takes at most."""
        ...

    @property
    def mend(self) -> str:
        """Returns what an operator can do when it fails."""
        ...

    async def send(self, entries: Sequence[bytes]) -> None:
        """Delivers the entries in order; raises `Undelivered`."""
        ...

    def close(self) -> None:
        """Lets go of whatever is held, without waiting."""
        ...
