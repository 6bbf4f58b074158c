"""A session that fetches what its core left out, once it is quiet again.

A core that has more to tell than anyone can read sends gaps in the place of records. Once none has
come for a second, the records between are read from its history a page at a time, and the picture
is taken anew with the calls that they tell of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, Unpack

import anyio
import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record
from watchgate.core.state.state import State
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost
from watchgate.link.protocol import Push, Refusal, Snapshot, Verb

QUIET_S = 1.0
"""So long no record must have been left out before those that were are fetched."""

MAX_FETCHED = 50_000
"""The newest records that are fetched: the older ones are in the history alone."""

ANSWER_S = 5.0
"""The longest wait for one page, during which nothing else is read."""


class Renewed(Snapshot, frozen=True, kw_only=True):
    """The picture taken anew in one connection: calls that were known before still stand.

    The first `fetched` of the `rows` were read from the history since the first gap.
    """

    fetched: int = 0


class PlainSession(Protocol):
    """One connection to a core that leaves gaps where they are."""

    async def attach(self) -> Snapshot:
        """The present picture; every record after it comes by `batch`."""

    async def batch(self) -> list[Push]:
        """Returns the pushes that have arrived, at least one; raises `CoreLost`."""

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The core's answer to one request; raises `CoreLost`."""


class WholeSession:
    """A connection whose gaps are closed; raises what the connection itself raises."""

    def __init__(self, session: PlainSession, *, quiet_s: float = QUIET_S) -> None:
        self._session = session
        self._quiet_s = quiet_s
        self._forget()

    def _forget(self) -> None:
        self._due_s = float("inf")
        self._next = self._last = 0
        self._fetched = State()

    async def attach(self) -> Snapshot:
        """The first picture."""
        self._forget()
        return await self._session.attach()

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The core's answer to one request."""
        return await self._session.call(verb, **fields)

    async def batch(self) -> list[Push] | Renewed:
        """Returns the arrived pushes, or a new snapshot once all that was left out is fetched."""
        while True:
            with anyio.move_on_at(self._due_s):
                pushes = await self._session.batch()
                self._note(pushes)
                return pushes
            with anyio.move_on_after(ANSWER_S) as answering:
                if self._next > self._last:
                    return await self._renewed()
                await self._fetch()
            if answering.cancelled_caught:
                self._wait()

    def _note(self, pushes: list[Push]) -> None:
        gaps = [push.gap for push in pushes if push.gap is not None]
        if gaps:
            if not self._last:
                self._next = gaps[0][0]
            self._last = max(self._last, *(last for _, last in gaps))
            self._wait()

    def _wait(self) -> None:
        self._due_s = anyio.current_time() + self._quiet_s

    async def _fetch(self) -> None:
        """Reads the next page of the records between the first gap and the last."""
        self._next = max(self._next, self._last - MAX_FETCHED + 1)
        answer = await self._session.call("history", from_seq=self._next, to_seq=self._last)
        if isinstance(answer, Refusal):
            self._forget()  # the gaps stay gaps, and the console says so
            return
        try:
            records = decoding.convert(answer.ok.get("records"), list[Record])
        except msgspec.ValidationError as error:
            raise CoreLost(f"its history cannot be read ({error})") from error
        for record in records:
            self._fetched.apply(record)
        self._next = records[-1].seq + 1 if records else self._last + 1

    async def _renewed(self) -> Renewed:
        taken = await self._session.attach()
        labels = {(each.agent, each.session): each.label for each in taken.sessions}
        fetched = [
            msgspec.structs.replace(row, label=labels.get((row.agent, row.session), row.label))
            for row in self._fetched.rows
        ]
        self._forget()
        rows = (*fetched, *taken.rows)
        return Renewed(**{**msgspec.structs.asdict(taken), "rows": rows, "fetched": len(fetched)})


def renewed_rows(known: Iterable[CallRow], picture: Renewed) -> list[CallRow]:
    """Every call once, in the order of their times, after a picture was taken anew.

    A call stands as the core tells it, else as it was known, else as the history has it: what was
    fetched may lack the beginning of a call.
    """
    fetched = picture.fetched
    rows = (*picture.rows[:fetched], *known, *picture.rows[fetched:])
    latest = {(row.agent, row.session, row.call): row for row in rows}
    return sorted(latest.values(), key=lambda row: (row.at, row.seq))
