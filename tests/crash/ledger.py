"""What the clients of a row of cores know: what was promised to them, and what they left open."""

from __future__ import annotations

from collections import Counter

from tests.crash.clients import Hook


class Promises:
    """All that was heard from the cores of one place, whichever of them said it.

    A grant that was asked for and not answered may be in force or not; so may one whose taking back
    was not answered. `surely` are those that must be there, `maybe` those that may. The same for
    the off switch: `off` is None where both are right.
    """

    def __init__(self) -> None:
        self.allowed: set[str] = set()
        """The commands whose agents heard an allow."""
        self.denied: set[str] = set()
        self.taken: set[str] = set()
        """The requests that an operator was told are allowed."""
        self.open: dict[str, str] = {}
        """The requests that nobody decided, and their digests."""
        self.surely: set[str] = set()
        self.maybe: set[str] = set()
        self.off: bool | None = False
        self.sessions: set[str] = set()
        self.purged: set[str] = set()
        """The sessions whose payloads are told to be gone."""
        self.due: Counter[str] = Counter()
        """How many records of a kind must be on the disk, as what they tell of was answered."""

    def heard(self, hook: Hook) -> None:
        """Counts what a hook client heard in the end."""
        if hook.heard == "allow":
            self.allowed.add(hook.command)
        elif hook.heard:
            self.denied.add(hook.command)
