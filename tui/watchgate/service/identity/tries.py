"""`pin-tries.json` in the state directory: wrong PINs one after the other, and the pause.

A try is on disk as a wrong one before it is checked, so no end of a core takes one back.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Annotated

import msgspec

from watchgate.core import decoding
from watchgate.core.clock import Clock
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service import own_file

TRIES = 5
PAUSE_S = 30.0
LONGEST_PAUSE_S = 86_400.0
_US = 1_000_000


class _File(msgspec.Struct, frozen=True, kw_only=True):
    wrong: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    until: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    version: int = 1


class Tries:
    """The count of wrong PINs in a row (`wrong`), for all callers together.

    A file that cannot be read counts as five.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self.wrong = 0
        self._paused_until_s = 0.0
        self._load()

    @property
    def left_s(self) -> int:
        """The seconds until a guess is taken again, 0 where one is taken now."""
        return max(ceil(self._paused_until_s - self._clock.now().mono_s), 0)

    def count(self) -> None:
        """Counts one more as wrong, and pauses where it is the fifth or a later one.

        Raises `OSError` where the file cannot be written; it is counted all the same.
        """
        self.wrong += 1
        now, pause_s = self._clock.now(), _pause_s(self.wrong)
        self._paused_until_s = now.mono_s + pause_s
        until = now.wall_us + round(pause_s * _US)
        own_file.replace(self._path, msgspec.json.encode(_File(wrong=self.wrong, until=until)))

    def forget(self) -> None:
        """Begins anew, after the right one. Raises `OSError`."""
        self.wrong, self._paused_until_s = 0, 0.0
        self._path.unlink(missing_ok=True)

    def _load(self) -> None:
        now = self._clock.now()
        try:
            counted = decoding.decode(own_file.read(self._path), _File)
        except FileNotFoundError:
            return
        except (OSError, *JSON_FAULTS):
            counted = _File(wrong=TRIES, until=now.wall_us + round(PAUSE_S * _US))
        self.wrong = counted.wrong
        # A wall clock that was set back makes no pause longer than it was.
        left_s = min((counted.until - now.wall_us) / _US, _pause_s(counted.wrong))
        self._paused_until_s = now.mono_s + left_s


def _pause_s(wrong: int) -> float:
    """Returns the pause: 30 s after the fifth, twice as long after each more, up to a day."""
    if wrong < TRIES:
        return 0.0
    pause_s: float = min(PAUSE_S * 2.0 ** min(wrong - TRIES, 30), LONGEST_PAUSE_S)
    return pause_s
