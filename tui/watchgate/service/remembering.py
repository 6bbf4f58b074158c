"""The state of a core that starts: all records of a quiet day, of a busy one the newest.

A day can have a million records, and no gate is answered before this is done. So the totals may be
counted from later than midnight, and say so; how the gate stands is looked for in the whole day.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import msgspec

from watchgate.core.budget import KIND as BUDGET
from watchgate.core.gate_folds import GATE_FOLDS
from watchgate.core.state import State
from watchgate.core.usage.fold import DAY_US
from watchgate.service.boundary import each_contained
from watchgate.service.journal import reading
from watchgate.service.search.kinds import of_kinds

FOLDED = 20_000
"""The newest records, of which everything is known."""

LOOKED_AT = 200_000
"""Records before those that are gone through for how the gate stands, where no index tells."""

STANDING = ("policy.started", BUDGET, *GATE_FOLDS)


def remembered(journal: Path, now_us: int, failed: Callable[[str], None]) -> State:
    """Returns the state that today's records make; `failed` gets each fault in folding.

    Raises `JournalError`.
    """
    state = State()
    today_us = now_us // DAY_US * DAY_US
    first, last = reading.in_time(journal, *reading.ends(journal), today_us, None)
    start = max(first, last - FOLDED + 1)
    earlier = of_kinds(journal, STANDING, first, start - 1, limit=LOOKED_AT)
    records = chain(earlier, reading.read(journal, start, last))
    # A record that was tampered with must not keep every gate closed until it is repaired.
    each_contained((each for each in records if each.at >= today_us), state.apply, failed)
    if start > first:
        since_us = next((each.at for each in reading.read(journal, start, start)), now_us)
        state.totals = msgspec.structs.replace(state.totals, since=since_us)
    return state
