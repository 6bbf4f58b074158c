"""The calls of the past that grants of each width would have answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from watchgate.core import decoding
from watchgate.core.grants.coverage import answers
from watchgate.core.grants.grant import GrantView
from watchgate.core.grants.width import Width
from watchgate.core.records import Record, RequestData
from watchgate.service.journal import reading

SHOWN = 50
_AMONG = 200_000
_LOOKED_AT = 5_000


class PastCall(msgspec.Struct, frozen=True):
    """A call on record that would have been let through; `at` in UTC µs."""

    at: int
    summary: str
    agent: str | None
    session: str | None
    request: str | None


class Past(msgspec.Struct, frozen=True):
    """The newest of those calls, and how many there were."""

    past: tuple[PastCall, ...] = ()
    past_count: int = 0


def past_calls(
    journal: Path, grants: Mapping[Width, GrantView], own_hash: str = ""
) -> dict[Width, Past]:
    """Returns for each grant the past calls that it would have answered.

    The request that the grants are given with is not one of them. The newest 5,000 requests of the
    last 200,000 records are looked at. A grant without rules for one call is held to `own_hash`,
    the hash of that call's input. Raises `JournalError`.
    """
    shown: dict[Width, list[PastCall]] = {width: [] for width in grants}
    counts = dict.fromkeys(grants, 0)
    for record, data in _asked(journal):
        for width, grant in grants.items():
            if record.request == grant.id or not _covers(grant, record, data, own_hash):
                continue
            counts[width] += 1
            if len(shown[width]) < SHOWN:
                call = PastCall(
                    record.at, data.summary, record.agent, record.session, record.request
                )
                shown[width].append(call)
    return {width: Past(tuple(shown[width]), counts[width]) for width in grants}


def _covers(grant: GrantView, record: Record, data: RequestData, own_hash: str) -> bool:
    if grant.width is not None:
        return answers(grant, record.agent or "", data.cwd, data.tool, data)
    where = (record.agent, data.cwd, data.tool.native_name)
    same = data.tool.input_hash == own_hash
    return same and where == (grant.agent, grant.folder, grant.tool)


def _asked(journal: Path) -> Iterator[tuple[Record, RequestData]]:
    for record in reading.of_kind(journal, "approval.requested", _AMONG, _LOOKED_AT):
        try:
            yield record, decoding.convert(record.data, RequestData)
        except msgspec.ValidationError:
            continue  # purged, or written by another version
