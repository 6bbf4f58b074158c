"""The part of a session's counted usage that a state does not hold yet: only that is recorded."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import CountedData, Part
from watchgate.core.usage.fold import UsageFold
from watchgate.core.usage.session import Key


def news(fold: UsageFold, key: Key, data: CountedData) -> CountedData | None:
    """Returns the record to write: whole figures, and the parts that differ; None: nothing.

    Another price table alone, or a minute that is nearly an hour old, makes no record.
    """
    usage = fold.sessions.get(key)
    if not data.rows and (usage is None or usage.counted is None):
        return None
    turns = _changed(data.turns, usage.turns if usage is not None else ())
    tools = tuple(each for each in data.tools if fold.tool_cost(*key, each.id) != each)
    known = {each.at: each for each in fold.counted_minutes(key)}
    minutes = tuple(each for each in data.minutes if known.get(each.at) != each)
    known_limits = fold.limits.get(key[0])
    limits = data.limits if known_limits is None or known_limits.limits != data.limits else ()
    if usage is not None and usage.counted is not None and not (turns or tools or limits):
        before = (
            usage.counted.rows,
            usage.counted.source,
            usage.unreadable,
            usage.kinds,
            data.context_used if data.context_used is None else usage.context_used,
            data.context_size if data.context_size is None else usage.context_size,
        )
        now = (
            data.rows,
            data.source,
            data.unreadable,
            data.kinds,
            data.context_used,
            data.context_size,
        )
        if before == now:
            return None
    return msgspec.structs.replace(data, turns=turns, tools=tools, minutes=minutes, limits=limits)


def _changed(parts: Iterable[Part], known: Iterable[Part]) -> tuple[Part, ...]:
    by_id = {each.id: each for each in known}
    return tuple(each for each in parts if by_id.get(each.id) != each)
