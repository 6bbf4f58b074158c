"""The circuit breaker of a handler: one that times out again and again is not run for a while.

Without it a hung handler would cost its whole time limit on every event. A handler that is skipped
counts as one that failed, so its failure policy says what that amounts to.
"""

from __future__ import annotations

TRIPS_AT = 3
REST_S = 30.0


class Breaker:
    """Counts the timeouts of one handler in a row; times are monotonic seconds."""

    def __init__(self, *, trips_at: int = TRIPS_AT, rest_s: float = REST_S) -> None:
        self._trips_at = trips_at
        self._rest_s = rest_s
        self._in_a_row = 0
        self._closed_from_s = float("-inf")

    def rests(self, now_s: float) -> str:
        """Returns why the handler is not run now; empty when it is.

        After the rest one call tries it.
        """
        if self._in_a_row < self._trips_at:
            return ""
        left_s = self._closed_from_s - now_s
        if left_s > 0:
            return f"{self._in_a_row} timeouts in a row; asked again in {left_s:.0f} s"
        self._closed_from_s = now_s + self._rest_s
        return ""

    def note_end(self, now_s: float, *, timed_out: bool) -> None:
        """Notes how a call of the handler ended."""
        if not timed_out:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        self._closed_from_s = now_s + self._rest_s
