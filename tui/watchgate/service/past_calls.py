"""The calls of the past that a grant for good would have answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.grants.coverage import answers
from watchgate.core.grants.grant import GrantView
from watchgate.core.records import Record, RequestData
from watchgate.service.journal import reading

SHOWN = 50
_AMONG = 200_000
_LOOKED_AT = 5_000


def past_calls(journal: Path, grant: GrantView) -> dict[str, Any]:
    """`past`, the newest of them, and `past_count`, how many there were.

    The request that the grant is given with is not one of them. The newest 5,000 requests of the
    last 200,000 records are looked at. Raises `JournalError`.
    """
    shown: list[dict[str, Any]] = []
    count = 0
    for record, data in _asked(journal):
        own = record.request == grant.id
        if own or not answers(grant, record.agent or "", data.cwd, data.tool, data):
            continue
        count += 1
        if len(shown) < SHOWN:
            shown.append(
                {
                    "at": record.at,
                    "summary": data.summary,
                    "agent": record.agent,
                    "session": record.session,
                    "request": record.request,
                }
            )
    return {"past": shown, "past_count": count}


def _asked(journal: Path) -> Iterator[tuple[Record, RequestData]]:
    for record in reading.of_kind(journal, "approval.requested", _AMONG, _LOOKED_AT):
        try:
            yield record, decoding.convert(record.data, RequestData)
        except msgspec.ValidationError:
            continue  # purged, or written by another version
