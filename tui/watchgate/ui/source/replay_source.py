"""A recording in the place of a core: its records are shown, nothing goes to it.

`fetch` asks a core for the records of one session, page by page. `Player` holds position and speed;
its time is what `advance` is given. The verb `search` is answered from the records played so far.
`ReplayView` holds the values for a screen.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_fields import RECORD_FIELDS, history_test
from watchgate.core.filters.filter_parser import Filter, FilterError, Term, parse
from watchgate.core.history.call_history import fold_history
from watchgate.core.model.records import Record
from watchgate.core.state.call_rows import call_key
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, LinkError
from watchgate.link.protocol import Push, Refusal, Result, Snapshot, Verb
from watchgate.ui.source.film import Film, Pictures, before, beyond, taken
from watchgate.ui.source.record_source import CoreCall

PAGE = 2_000
RECORDS_MAX = 50_000
"""The newest so many records of a session are played; `watchgate replay` plays any number."""


class NotFetched(Exception):
    """The records could not be fetched; the message says why."""


class _Page(msgspec.Struct, frozen=True):
    records: tuple[Record, ...] = ()
    next: int | None = None


async def fetch(
    call: CoreCall, agent: str, session: str, on_progress: Callable[[int], None]
) -> list[Record]:
    """Fetches the records of a session, oldest first; `on_progress` takes the count so far.

    Raises `NotFetched`.
    """
    wanted = str(Filter((Term("agent", agent), Term("session", session))))
    records: list[Record] = []
    last: int | None = None
    while len(records) < RECORDS_MAX:
        page = await _page(call, wanted, last)
        records += [each for each in page.records if (each.agent, each.session) == (agent, session)]
        if page.next is None or (last is not None and page.next >= last):
            break
        last = page.next
        on_progress(len(records))
    if not records:
        raise NotFetched("no record of this session is kept")
    return records[:RECORDS_MAX][::-1]


async def _page(call: CoreCall, wanted: str, last: int | None) -> _Page:
    try:
        answer = await call("search", what="records", filter=wanted, to_seq=last, limit=PAGE)
        if isinstance(answer, Refusal):
            raise NotFetched(safe_text(answer.message))
        return decoding.convert(answer.ok, _Page, from_attributes=True)
    except LinkError as lost:
        raise NotFetched(safe_text(str(lost))) from None
    except msgspec.ValidationError as fault:
        raise NotFetched(f"the answer cannot be read ({safe_text(str(fault))})") from None


SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MINUTE_S = 60.0
CUT_SHOWN_S = 4.0
"""Seconds for which the screen says that a gap was cut."""


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
        """Returns the number of records."""
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
        return self.film.cut_s[self.played - 1] if since_s < CUT_SHOWN_S * self.speed else 0.0

    def advance(self, seconds: float) -> None:
        """Lets so much time pass, as the operator sees it."""
        if self.paused or self.over:
            return
        self.film_s = min(self.film.end_s, self.film_s + seconds * self.speed)
        self.played = max(self.played, self.film.played_at(self.film_s))

    def pause(self) -> None:
        """Pauses, or goes on; after the end, from the start again."""
        if self.over:
            self.to_start()
            self.paused = False
        else:
            self.paused = not self.paused

    def step(self, by: int) -> None:
        """Goes so many records on or back, and stops there."""
        self._stop_at(self.played + by)

    def step_call(self, way: int) -> None:
        """Goes to where the next or the previous call was made, and stops there."""
        self._stop_by(self.film.calls, way)

    def step_request(self, way: int) -> None:
        """Goes to where the next or the previous request was made, and stops there."""
        self._stop_by(self.film.requests, way)

    def seek(self, seconds: float) -> None:
        """Goes so many seconds of the film on or back."""
        self.film_s = min(max(0.0, self.film_s + seconds), self.film.end_s)
        self.played = self.film.played_at(self.film_s)

    def to_start(self) -> None:
        """Goes to the first record."""
        self.seek(-self.film.end_s)

    def to_end(self) -> None:
        """Goes to the last record."""
        self.seek(self.film.end_s)

    def faster(self) -> None:
        """Takes the next higher speed."""
        self.speed = next((each for each in SPEEDS if each > self.speed), self.speed)

    def slower(self) -> None:
        """Takes the next lower speed."""
        self.speed = next((each for each in reversed(SPEEDS) if each < self.speed), self.speed)

    def _stop_by(self, places: list[int], way: int) -> None:
        place = beyond(places, self.played) if way > 0 else before(places, self.played)
        if place is not None:
            self._stop_at(place)

    def _stop_at(self, place: int) -> None:
        self.played = min(max(1, place), self.count)
        self.film_s = self.film.film_s[self.played - 1]
        self.paused = True


def search(records: Sequence[Record], asked: RequestFields, now_us: int) -> dict[str, Any]:
    """Returns the answer of the verb `search` on these records; raises `FilterError`."""
    wanted = parse(asked.get("filter") or "", now_us=now_us)
    first, limit = asked.get("from_seq"), max(1, asked.get("limit", 100))
    if asked.get("what") != "calls":
        keeps = wanted.over(RECORD_FIELDS) or (lambda _record: True)
        last = asked.get("to_seq") or records[-1].seq
        matches = [r for r in reversed(records) if (first or 0) <= r.seq <= last and keeps(r)]
        more = len(matches) > limit
        return {"records": matches[:limit], "next": matches[limit - 1].seq - 1 if more else None}
    keeps_row = history_test(wanted)
    # What had not ended by then was still going on.
    alive = {call_key(record) for record in records if record.call}
    rows = fold_history(records, len(records), alive=alive)[::-1]
    answer = {"records": len(records), "newest": records[-1].seq}
    if first is not None:
        changed = [row for row in rows if row.last >= first]
        taken = [row for row in changed if keeps_row(row)]
        gone = [row.first for row in changed if not keeps_row(row)]
        return {"calls": taken, "gone": gone, **answer}
    before = asked.get("before")
    older = [row for row in rows if before is None or row.first < before]
    fitting = [row for row in older if keeps_row(row)]
    page = fitting[:limit]
    following = page[-1].first if len(fitting) > limit else None
    looked = sum((before or record.seq + 1) > record.seq >= (following or 0) for record in records)
    return {"calls": page, "next": following, "looked_at": looked, **answer}


class ReplayView(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a replay: `played` of `count` records, `film_s` of `end_s` seconds.

    `now_us` is the recorded time (UTC µs), `skipped_s` the idle seconds left out just now.
    `gate_recorded` says whether the recording shows the state of the gate.
    """

    played: int
    count: int
    film_s: float
    end_s: float
    now_us: int
    speed: float = 1.0
    paused: bool = False
    over: bool = False
    skipped_s: float = 0.0
    gate_recorded: bool = True


def view_of(player: Player) -> ReplayView:
    """The replay as it stands now."""
    return ReplayView(
        played=player.played,
        count=player.count,
        film_s=player.film_s,
        end_s=player.film.end_s,
        now_us=player.now_us,
        speed=player.speed,
        paused=player.paused,
        over=player.over,
        skipped_s=player.skipped_s,
        gate_recorded=player.film.gate_recorded,
    )


JUMP = 2_000
"""Records beyond which a saved picture is nearer than the records up to there."""

NOT_HERE = "a replay: nothing that is asked here reaches a core"


class Recording:
    """At least one record, oldest first, as a `Source`, a `Session` and a `Clock` in one.

    It holds no connection. Whoever moves the `player` says so with `moved`.
    """

    def __init__(self, records: Sequence[Record], speed: float = 1.0) -> None:
        self.player = Player(Film(records), speed)
        self._records = records
        self._pictures = Pictures(records)
        self._sent_count = 0
        self._moved = anyio.Event()

    def now(self) -> Instant:
        """The recorded time of what is shown."""
        now_us = self.player.now_us
        return Instant(now_us, now_us / 1_000_000)

    def moved(self) -> None:
        """Shows what the player stands at now."""
        if self.player.played != self._sent_count:
            self._moved.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Recording]:
        """The recording itself is the connection."""
        yield self

    async def attach(self) -> Snapshot:
        """The picture of what was played so far."""
        return await self._picture()

    async def batch(self) -> list[Push] | Snapshot:
        """Returns the records played since the last time, or after a jump the picture there."""
        while self._sent_count == self.player.played:
            self._moved = anyio.Event()
            await self._moved.wait()
        if not 0 <= self.player.played - self._sent_count <= JUMP:
            return await self._picture()
        before, self._sent_count = self._sent_count, self.player.played
        return [Push(record=record) for record in self._records[before : self._sent_count]]

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """Answers questions about the recording; every verb that would do something is refused."""
        if verb != "search":
            return Refusal(id=0, refused="not_offered", message=NOT_HERE)
        played, now_us = self._records[: self.player.played], self.player.now_us
        try:
            answer = await anyio.to_thread.run_sync(search, played, fields, now_us)
        except FilterError as fault:
            return Refusal(id=0, refused="bad_request", message=str(fault))
        return Result(id=0, ok=answer)

    async def _picture(self) -> Snapshot:
        played = self.player.played
        state = await self._pictures.after(played)
        self._sent_count = played
        return taken(state, self.player.now_us)
