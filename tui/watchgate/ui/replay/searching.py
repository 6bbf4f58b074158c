"""A recording searched as a journal is: its calls and records, as far as they were played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from watchgate.core.call_rows import call_key
from watchgate.core.filters import parse
from watchgate.core.history import fold
from watchgate.core.history_filter import keeping
from watchgate.core.record_fields import RECORD_FIELDS
from watchgate.core.records import Record
from watchgate.link.client import Fields


def search(records: Sequence[Record], asked: Fields, now_us: int) -> dict[str, Any]:
    """Returns what the verb `search` answers about these records; raises `FilterError`."""
    wanted = parse(asked.get("filter") or "", now_us=now_us)
    first, limit = asked.get("from_seq"), max(1, asked.get("limit", 100))
    if asked.get("what") != "calls":
        keeps = wanted.over(RECORD_FIELDS) or (lambda _record: True)
        last = asked.get("to_seq") or records[-1].seq
        matches = [r for r in reversed(records) if (first or 0) <= r.seq <= last and keeps(r)]
        more = len(matches) > limit
        return {"records": matches[:limit], "next": matches[limit - 1].seq - 1 if more else None}
    keeps_row = keeping(wanted)
    # What had not ended by then was still going on.
    alive = {call_key(record) for record in records if record.call}
    rows = fold(records, len(records), alive=alive)[::-1]
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
