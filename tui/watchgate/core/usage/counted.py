"""The fold of `usage.counted`: the newest sum over a session's files replaces all before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.ledger.counted import CountedData, CountedRow, Part
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import Counted, SessionUsage
from watchgate.core.usage.sources import NAME_CHARS

MAX_ROWS = 1_000
MAX_TURNS = 50
MAX_MODELS = 4
CWD_CHARS = 1_000
_MAX_COUNT = 1 << 53


def counted(usage: SessionUsage, data: CountedData, at_us: int) -> SessionUsage:
    """Returns the session after that record; its figures are chosen afterwards."""
    rows = tuple(_named(row) for row in data.rows[:MAX_ROWS] if _sane(row))
    changes: dict[str, Any] = {
        "at": max(usage.at, at_us),
        "counted": Counted(rows=rows, source=data.source),
        "kinds": data.kinds,
        "unreadable": data.unreadable,
        "models": _models(usage.models, rows),
        "cwd": data.cwd[:CWD_CHARS] or usage.cwd,
        "label": usage.label or data.label[:NAME_CHARS],
    }
    if data.turns:
        changes["turns"] = _turns(usage.turns, data.turns)
    if data.context_used is not None:
        changes["context_used"] = data.context_used
    if data.context_size is not None:
        changes["context_size"] = data.context_size
    return msgspec.structs.replace(usage, **changes)


def tokens_of(row: CountedRow) -> Tokens:
    """Returns the tokens of a row."""
    return Tokens(row.input, row.output, row.cache_read, row.cache_write, row.reasoning)


def _sane(row: CountedRow) -> bool:
    """Returns whether all its numbers are counts; a changed journal may hold anything."""
    numbers = (each for each in msgspec.structs.astuple(row) if isinstance(each, int))
    return all(0 <= each <= _MAX_COUNT for each in numbers)


def _named(row: CountedRow) -> CountedRow:
    if len(row.model) <= NAME_CHARS and len(row.sub) <= NAME_CHARS:
        return row
    return msgspec.structs.replace(row, model=row.model[:NAME_CHARS], sub=row.sub[:NAME_CHARS])


def _models(known: tuple[str, ...], rows: Iterable[CountedRow]) -> tuple[str, ...]:
    """Returns the models that were used, those of the session itself and of later days last."""
    newest: dict[str, tuple[bool, int, int]] = {}
    for row in rows:
        place = (not row.sub, row.day, row.calls)
        if row.model and place > newest.get(row.model, (False, -1, 0)):
            newest[row.model] = place
    ordered = sorted(newest, key=newest.__getitem__)
    if known and set(ordered) <= set(known):
        return known  # in the order in which the agent told of them
    return tuple(ordered)[-MAX_MODELS:] or known


def _turns(known: tuple[Part, ...], changed: tuple[Part, ...]) -> tuple[Part, ...]:
    by_id = {each.id: each for each in known} | {each.id: each for each in changed}
    return tuple(sorted(by_id.values(), key=lambda each: (each.at, each.id)))[-MAX_TURNS:]
