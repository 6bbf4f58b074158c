"""What became of the records that a sink was offered, and when somebody has to be told."""

from __future__ import annotations

import msgspec


class SinkCounters(msgspec.Struct, frozen=True):
    """How many records were `sent`, `dropped` unsent and `failed`; `why` is the last reason.

    Sent means taken by the file, the server or the kernel: a reader may still lose it. What was on
    its way when the sink was stopped counts as dropped, and may have arrived.
    """

    sent: int = 0
    dropped: int = 0
    failed: int = 0
    why: str = ""

    @property
    def lost(self) -> int:
        """How many records did not arrive."""
        return self.dropped + self.failed


class Tally:
    """Counts for one sink, and words about them whenever they are news."""

    def __init__(self, name: str, mend: str) -> None:
        self._name = name
        self._mend = mend
        self.sent = 0
        self.dropped = 0
        self.failed = 0
        self.why = ""
        self._trouble = ""
        self._cause = ""
        self._untold = 0
        self._told_lost = 0
        self._told_trouble = False

    @property
    def counters(self) -> SinkCounters:
        """The counts as they are now."""
        return SinkCounters(self.sent, self.dropped, self.failed, self.why)

    def delivered(self, count: int) -> None:
        """So many records arrived."""
        self.sent += count
        self._trouble = ""

    def failing(self, why: str, *, quiet: bool = False) -> None:
        """Delivery fails for now, and why; `quiet` where that is no trouble."""
        self.why = why
        if not quiet:
            self._trouble = self._cause = why

    def broken(self, fault: str) -> None:
        """This program failed over one record."""
        self.failed += 1
        self.failing(f"internal error: {fault}")

    def lose(self, count: int, why: str) -> None:
        """So many records are dropped, because of what fails at present or else for this reason."""
        self.dropped += count
        if count:
            self.why = self._cause = self._trouble or why

    def lose_quietly(self, count: int) -> None:
        """So many records are dropped that nobody listens for: they are counted and not told."""
        self.dropped += count
        self._untold += count

    def report(self, *, every: bool = False) -> str | None:
        """What an operator should know since this was last asked; None when it is nothing new.

        A sink is also offered the record of its own report, so losses are news when they have
        doubled, not each time; `every` tells all that was not told, for a core that ends.
        """
        lost = self.dropped + self.failed - self._untold
        more = lost > self._told_lost if every else lost >= max(1, 2 * self._told_lost)
        changed = bool(self._trouble) != self._told_trouble
        if not more and not changed:
            return None
        recovered = changed and not self._trouble
        self._told_lost, self._told_trouble = lost, bool(self._trouble)
        missed = "1 record" if lost == 1 else f"{lost:,} records" if lost else "nothing"
        if recovered:
            return f"{self._name} works again; it lost {missed} in all"
        return (
            f"{self._name} lost {missed} so far: {self._cause}. Agents are not affected and the "
            f"journal has every record; {self._mend}"
        )
