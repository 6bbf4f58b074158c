"""What of a session's counted usage a state does not know yet: the rest need not be told again."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import CountedData, Part
from watchgate.core.usage.fold import UsageFold
from watchgate.core.usage.session import Key


def news(fold: UsageFold, key: Key, data: CountedData) -> CountedData | None:
    """The record to make of it: whole figures, and of the parts those that differ; None: nothing.

    What is said of another table of prices alone, or of a minute that is nearly an hour old, is
    nothing new.
    """
    seen = fold.sessions.get(key)
    if not data.rows and (seen is None or seen.counted is None):
        return None
    turns = _changed(data.turns, seen.turns if seen is not None else ())
    tools = tuple(each for each in data.tools if fold.tool_cost(*key, each.id) != each)
    known = {each.at: each for each in fold.counted_minutes(key)}
    minutes = tuple(each for each in data.minutes if known.get(each.at) != each)
    told = fold.limits.get(key[0])
    limits = data.limits if told is None or told.limits != data.limits else ()
    if seen is not None and seen.counted is not None and not (turns or tools or limits):
        before = (
            seen.counted.rows,
            seen.counted.source,
            seen.unreadable,
            seen.kinds,
            data.context_used if data.context_used is None else seen.context_used,
            data.context_size if data.context_size is None else seen.context_size,
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
