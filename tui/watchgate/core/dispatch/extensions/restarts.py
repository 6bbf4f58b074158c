"""A budget for restarts of a process that was lost, within a window of time."""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec


class RestartPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A limit: at most `limit` restarts within `window_s`, each after a longer pause.

    A process that ran for `stable_s` has earned a fresh budget.
    """

    limit: int = 3
    window_s: float = 300.0
    stable_s: float = 60.0
    first_pause_s: float = 0.25
    factor: float = 2.0
    longest_pause_s: float = 5.0


DEFAULT: Final = RestartPolicy()


class Restarts:
    """Counts the restarts of one process; times are monotonic seconds."""

    def __init__(self, policy: RestartPolicy = DEFAULT) -> None:
        self._policy = policy
        self._at: deque[float] = deque()
        self.total = 0

    def left(self, now_s: float) -> int:
        """Returns the number of restarts that are left now."""
        while self._at and now_s - self._at[0] >= self._policy.window_s:
            self._at.popleft()
        return self._policy.limit - len(self._at)

    def rest_s(self, now_s: float) -> float:
        """Returns the seconds until there is a restart again; 0 when there is one."""
        if self.left(now_s) > 0:
            return 0.0
        return self._at[0] + self._policy.window_s - now_s

    def take(self, now_s: float) -> float | None:
        """Takes one restart, which counts from now.

        Returns the seconds to pause before it; None: none is left.
        """
        if self.left(now_s) <= 0:
            return None
        policy = self._policy
        pause_s = policy.first_pause_s * policy.factor ** len(self._at)
        self._at.append(now_s)
        self.total += 1
        return min(pause_s, policy.longest_pause_s)

    def ran(self, for_s: float) -> None:
        """Notes that a process ended after running well for so many seconds."""
        if for_s >= self._policy.stable_s:
            self._at.clear()
