"""The line that a stream has begun and not ended: the limits of its size and its time."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import anyio

from watchgate.service.admission.door import LAST_BYTE_S
from watchgate.service.admission.shares import Shares
from watchgate.service.splitter import Splitter

PATIENT_BYTES = 64 * 1024
"""A shorter line may wait: a program that writes in blocks leaves half a one behind."""


class Unfinished:
    """The unfinished bytes of a connection, counted for the process that sends them.

    A line for which there is no room is dropped whole, as one that is too long. `until_s` is the
    time of that for the present one, by the event loop's clock.
    """

    def __init__(self, splitter: Splitter, shares: Shares, pid: int) -> None:
        self.until_s = float("inf")
        self._splitter = splitter
        self._shares = shares
        self._pid = pid
        self._held_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._release()

    def changed(self, *, ended: bool) -> None:
        """Counts the unfinished bytes; `ended` says that a line did."""
        size_bytes = self._splitter.unfinished_bytes
        if size_bytes == self._held_bytes == 0:
            return
        self._release()
        if self._shares.take(self._pid, size_bytes):
            self.drop()
            return
        self._held_bytes = size_bytes
        if size_bytes <= PATIENT_BYTES:
            self.until_s = float("inf")
        elif ended or self.until_s == float("inf"):
            self.until_s = anyio.current_time() + LAST_BYTE_S

    def drop(self) -> None:
        """Keeps no more of this line."""
        self._release()
        self._splitter.drop()
        self.until_s = float("inf")

    def _release(self) -> None:
        self._shares.give_back(self._pid, self._held_bytes)
        self._held_bytes = 0
