"""What the files of a session add up to, folded: the newest `usage.counted` replaces all before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.ledger.counted import CountedData, CountedRow, Part
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import Counted, SessionUsage
from watchgate.core.usage.sources import NAME_CHARS

ROWS_MOST = 1_000
TURNS_KEPT = 50
MODELS_KEPT = 4
CWD_CHARS = 1_000
_MOST = 1 << 53


def counted(seen: SessionUsage, data: CountedData, at_us: int) -> SessionUsage:
    """The session after that record; its figures are chosen afterwards."""
    rows = tuple(_named(row) for row in data.rows[:ROWS_MOST] if _sane(row))
    changes: dict[str, Any] = {
        "at": max(seen.at, at_us),
        "counted": Counted(rows=rows, source=data.source),
        "kinds": data.kinds,
        "unreadable": data.unreadable,
        "models": _models(seen.models, rows),
        "cwd": data.cwd[:CWD_CHARS] or seen.cwd,
        "label": seen.label or data.label[:NAME_CHARS],
    }
    if data.turns:
        changes["turns"] = _turns(seen.turns, data.turns)
    if data.context_used is not None:
        changes["context_used"] = data.context_used
    if data.context_size is not None:
        changes["context_size"] = data.context_size
    return msgspec.structs.replace(seen, **changes)


def tokens_of(row: CountedRow) -> Tokens:
    """The tokens of a row."""
    return Tokens(row.input, row.output, row.cache_read, row.cache_write, row.reasoning)


def _sane(row: CountedRow) -> bool:
    """Whether all of it are counts; a record that was changed from outside may hold anything."""
    numbers = (each for each in msgspec.structs.astuple(row) if isinstance(each, int))
    return all(0 <= each <= _MOST for each in numbers)


def _named(row: CountedRow) -> CountedRow:
    if len(row.model) <= NAME_CHARS and len(row.sub) <= NAME_CHARS:
        return row
    return msgspec.structs.replace(row, model=row.model[:NAME_CHARS], sub=row.sub[:NAME_CHARS])


def _models(known: tuple[str, ...], rows: Iterable[CountedRow]) -> tuple[str, ...]:
    """The models that were used, those of the session itself and of later days last."""
    newest: dict[str, tuple[bool, int, int]] = {}
    for row in rows:
        place = (not row.sub, row.day, row.calls)
        if row.model and place > newest.get(row.model, (False, -1, 0)):
            newest[row.model] = place
    found = sorted(newest, key=newest.__getitem__)
    if known and set(found) <= set(known):
        return known  # in the order in which the agent told of them
    return tuple(found)[-MODELS_KEPT:] or known


def _turns(known: tuple[Part, ...], changed: tuple[Part, ...]) -> tuple[Part, ...]:
    by_id = {each.id: each for each in known} | {each.id: each for each in changed}
    return tuple(sorted(by_id.values(), key=lambda each: (each.at, each.id)))[-TURNS_KEPT:]
