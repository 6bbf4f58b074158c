"""A signal to a worker thread that waits in `poll`."""

from __future__ import annotations

import os
import threading


class Cancel:
    """A descriptor that turns readable once, for good.

    `set` and `close` may come in any order and from any thread.
    """

    def __init__(self) -> None:
        if hasattr(os, "eventfd"):
            self.fd = self._writes = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        else:
            self.fd, self._writes = os.pipe()
        self._lock = threading.Lock()
        self._open = True

    def set(self) -> None:
        """Makes it readable; nothing where it is closed."""
        with self._lock:
            if self._open:
                # An eventfd takes eight bytes that are a number, a pipe takes any.
                os.write(self._writes, b"\1" * 8)

    def close(self) -> None:
        """Gives the descriptor back."""
        with self._lock:
            if self._open:
                self._open = False
                for fd in {self.fd, self._writes}:
                    os.close(fd)
