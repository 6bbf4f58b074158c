"""Text files of usage: those of lines that grow, and those of one value that are read anew."""

from __future__ import annotations

import os

from watchgate.core.ledger.ledger import Ledger
from watchgate.service.usage.followed import NEVER, Followed, stamp
from watchgate.service.usage.opened import LINE_BYTES, NotOursError, opened


class Whole(Followed):
    """A file that is one value; its calls replace those that it held before."""

    @property
    def left(self) -> int:
        """Returns 0: it is read at once, whatever the limit."""
        return 0

    def _read(self, ledger: Ledger, _limit: int) -> int:
        with opened(self.path) as (descriptor, about):
            first, self.read_to = self.read_to == NEVER, stamp(about)
            if about.st_size > LINE_BYTES:
                raise NotOursError(self.path)
            content = os.read(descriptor, about.st_size) if about.st_size else b""
        if not content:
            return 0
        reader = self._new_reader()
        reader.read(content)
        if reader.unreadable and not first:
            # Half of it is written as yet: what it told before holds until all of it is there.
            self._unreadable = reader.unreadable
            return len(content)
        if not first:
            self._forget(ledger)
        self._tell(ledger, reader)
        return len(content)
