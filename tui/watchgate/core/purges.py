"""Checks that payloads which a journal no longer holds were dropped as the journal itself says."""

from __future__ import annotations

from watchgate.core import decoding
from watchgate.core.chain import Problem, Row
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.records import PurgedData
from watchgate.core.redact import redact

KIND = "policy.purged"

_Session = tuple[str | None, str]


class Purges:
    """Watches the rows of a chain pass, oldest first.

    A row without data needs a later record that says the payloads of its session were dropped up
    to it or beyond. Memory grows with the rows that still need one.
    """

    def __init__(self) -> None:
        self._bare: dict[_Session, list[int]] = {}

    def see(self, row: Row) -> None:
        """Take the next row."""
        if row.data is None:
            # The record that tells of the purge went through the journal's view like any other.
            session = row.agent, redact(row.session or "")
            self._bare.setdefault(session, []).append(row.seq)
        elif row.kind == KIND and (purged := _purge_in(row.data)):
            session = purged.agent, purged.session
            bare = self._bare.get(session, [])
            self._bare[session] = [seq for seq in bare if seq > purged.upto]

    def problem(self) -> Problem | None:
        """The first row that lost its data and nobody said so, if there is one."""
        first = min((seq for bare in self._bare.values() for seq in bare), default=None)
        if first is None:
            return None
        return Problem(
            first, f"record {first} has lost its data, and no record says that they were purged"
        )


def _purge_in(data: bytes) -> PurgedData | None:
    try:
        return decoding.decode(data, PurgedData)
    except JSON_FAULTS:
        return None
