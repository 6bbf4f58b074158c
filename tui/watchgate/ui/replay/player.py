"""The position and speed of a film; time is what it is told has passed."""

from __future__ import annotations

from watchgate.ui.replay.film import Film, before, beyond

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MINUTE_S = 60.0
TOLD_S = 4.0
"""So long after a gap it is told, for whoever watches, that it was cut."""


class Player:
    """Plays a film from its start: `played` records of it are shown, at least one.

    `film_s` is the place in seconds of the film, `speed` how many of them pass in a second.
    """

    def __init__(self, film: Film, speed: float = 1.0) -> None:
        self.film = film
        self.speed = speed
        self.paused = False
        self.film_s = 0.0
        self.played = film.played_at(0.0)

    @property
    def count(self) -> int:
        """Returns how many records there are."""
        return len(self.film.records)

    @property
    def over(self) -> bool:
        """Returns whether all of it was played."""
        return self.played >= self.count

    @property
    def now_us(self) -> int:
        """The recorded time (UTC µs) of what is shown."""
        return self.film.now_us(self.played, self.film_s)

    @property
    def skipped_s(self) -> float:
        """Counts the idle seconds left out just now; 0 once that was shown long enough."""
        since_s = self.film_s - self.film.film_s[self.played - 1]
        return self.film.cut_s[self.played - 1] if since_s < TOLD_S * self.speed else 0.0

    def advance(self, seconds: float) -> None:
        """So much time passed in front of the screen."""
        if self.paused or self.over:
            return
        self.film_s = min(self.film.end_s, self.film_s + seconds * self.speed)
        self.played = max(self.played, self.film.played_at(self.film_s))

    def pause(self) -> None:
        """Pause, or go on; after the end, from the start again."""
        if self.over:
            self.to_start()
            self.paused = False
        else:
            self.paused = not self.paused

    def step(self, by: int) -> None:
        """So many records on or back, and stop there."""
        self._stop_at(self.played + by)

    def step_call(self, way: int) -> None:
        """To where the next or the previous call was made, and stop there."""
        self._stop_by(self.film.calls, way)

    def step_request(self, way: int) -> None:
        """To where the next or the previous request was made, and stop there."""
        self._stop_by(self.film.requests, way)

    def seek(self, seconds: float) -> None:
        """So many seconds of the film on or back."""
        self.film_s = min(max(0.0, self.film_s + seconds), self.film.end_s)
        self.played = self.film.played_at(self.film_s)

    def to_start(self) -> None:
        """To the first record."""
        self.seek(-self.film.end_s)

    def to_end(self) -> None:
        """To the last record."""
        self.seek(self.film.end_s)

    def faster(self) -> None:
        """The next higher speed."""
        self.speed = next((each for each in SPEEDS if each > self.speed), self.speed)

    def slower(self) -> None:
        """The next lower speed."""
        self.speed = next((each for each in reversed(SPEEDS) if each < self.speed), self.speed)

    def _stop_by(self, places: list[int], way: int) -> None:
        place = beyond(places, self.played) if way > 0 else before(places, self.played)
        if place is not None:
            self._stop_at(place)

    def _stop_at(self, place: int) -> None:
        self.played = min(max(1, place), self.count)
        self.film_s = self.film.film_s[self.played - 1]
        self.paused = True
