"""The columns of the sessions' table at a width; narrow ones lose whole columns, never half."""

from __future__ import annotations

import msgspec

WIDE, MIDDLE = 112, 76


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Where each column begins, or, for numbers, ends (exclusive); 0: it is left out.

    `bar` is how many cells the longest bar of the column `share` takes, `fill` those of `context`.
    """

    session: int = 2
    agent: int = 0
    model: int = 0
    model_end: int = 0
    read: int = 0
    written: int = 0
    cached: int = 0
    cost: int = 0
    share: int = 0
    bar: int = 0
    context: int = 0
    fill: int = 0
    percent: int = 0


def columns(cells: int) -> Columns:
    """The columns that fit in so many cells."""
    if cells < MIDDLE:
        end = cells - 1
        return Columns(
            read=end - 24, written=end - 15, cost=end - 6, percent=end if cells >= 56 else 0
        )
    if cells < WIDE:
        end = cells - 2
        return Columns(
            agent=13, read=end - 42, written=end - 33, cost=end - 22,
            context=end - 19, fill=12, percent=end,
        )  # fmt: skip
    wide = cells - 120
    name = max(0, wide // 4)
    model = 13 + 10 + name
    left = model + 33 + wide // 4
    share = left + 31
    longest = max(8, 12 + wide - 2 * (wide // 4))
    return Columns(
        agent=13 + name, model=model, model_end=left - 8, read=left, written=left + 9,
        cached=left + 18, cost=left + 28, share=share, bar=longest,
        context=share + longest + 3, fill=10, percent=cells - 2,
    )  # fmt: skip
