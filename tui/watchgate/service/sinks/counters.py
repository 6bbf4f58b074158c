"""The queue in front of one sink, bounded in records and bytes, and the counts of what is lost."""

from __future__ import annotations

import msgspec


class SinkCounters(msgspec.Struct, frozen=True):
    """The numbers of records `sent`, `dropped` unsent and `failed`; `why` is the last reason.

    Sent means taken by the file, the server or the kernel: a reader may still lose it. What was on
    its way when the sink was stopped counts as dropped, and may have arrived.
    """

    sent: int = 0
    dropped: int = 0
    failed: int = 0
    why: str = ""

    @property
    def lost(self) -> int:
        """Returns the number of records that did not arrive."""
        return self.dropped + self.failed


class Tally:
    """Counts for one sink, and reports in words whenever there is news."""

    def __init__(self, name: str, mend: str) -> None:
        self._name = name
        self._mend = mend
        self.sent = 0
        self.dropped = 0
        self.failed = 0
        self.why = ""
        self._trouble = ""
        self._cause = ""
        self._unreported = 0
        self._reported_lost = 0
        self._reported_trouble = False

    @property
    def counters(self) -> SinkCounters:
        """Returns the counts as they are now."""
        return SinkCounters(self.sent, self.dropped, self.failed, self.why)

    def delivered(self, count: int) -> None:
        """Counts records that arrived."""
        self.sent += count
        self._trouble = ""

    def failing(self, why: str, *, quiet: bool = False) -> None:
        """Notes that delivery fails for now, and why; `quiet` where that is no trouble."""
        self.why = why
        if not quiet:
            self._trouble = self._cause = why

    def broken(self, fault: str) -> None:
        """Counts a record over which this program failed."""
        self.failed += 1
        self.failing(f"internal error: {fault}")

    def lose(self, count: int, why: str) -> None:
        """Counts dropped records, with the reason of the present failure or else with this one."""
        self.dropped += count
        if count:
            self.why = self._cause = self._trouble or why

    def lose_quietly(self, count: int) -> None:
        """Counts dropped records that nobody listens for: these are not reported."""
        self.dropped += count
        self._unreported += count

    def report(self, *, every: bool = False) -> str | None:
        """Returns what an operator should know since the last call; None when it is nothing new.

        A sink is also offered the record of its own report, so losses are news when they have
        doubled, not each time; `every` tells all that was not told, for a core that ends.
        """
        lost = self.dropped + self.failed - self._unreported
        more = lost > self._reported_lost if every else lost >= max(1, 2 * self._reported_lost)
        changed = bool(self._trouble) != self._reported_trouble
        if not more and not changed:
            return None
        recovered = changed and not self._trouble
        self._reported_lost, self._reported_trouble = lost, bool(self._trouble)
        missed = "1 record" if lost == 1 else f"{lost:,} records" if lost else "nothing"
        if recovered:
            return f"{self._name} works again; it lost {missed} in all"
        return (
            f"{self._name} lost {missed} so far: {self._cause}. Agents are not affected and the "
            f"journal has every record; {self._mend}"
        )
