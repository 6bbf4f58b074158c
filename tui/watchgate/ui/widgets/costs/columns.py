"""The sessions with their tokens and cost, one line each, and their sum.

Narrow tables lose whole columns, never half.
"""

from __future__ import annotations

import msgspec

WIDE, MIDDLE = 112, 76
SPARK_FROM = 156
"""From so many cells each session has its costs over time, and their source in a word."""

MARK_CELLS, WORD_CELLS, SPARK_CELLS = 4, 12, 14


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Cells at which columns begin, or, for numbers, end (exclusive); 0: left out.

    `bar` is how many cells the longest bar of the column `share` takes, `fill` those of `context`.
    `mark` is the cell of the cost's source, a letter or (`words`) a word.
    """

    session: int = 2
    agent: int = 0
    model: int = 0
    model_end: int = 0
    read: int = 0
    written: int = 0
    cached: int = 0
    cost: int = 0
    mark: int = 0
    words: bool = False
    spark: int = 0
    share: int = 0
    bar: int = 0
    context: int = 0
    fill: int = 0
    percent: int = 0


def columns(cells: int) -> Columns:
    """Returns the columns that fit in so many cells."""
    if cells < MIDDLE:
        end = cells - 1
        cost = end - 10
        return Columns(
            read=cost - 18, written=cost - 9, cost=cost, mark=cost + 1,
            percent=end if cells >= 56 else 0,
        )  # fmt: skip
    if cells < WIDE:
        end = cells - 2
        cost = end - 23
        return Columns(
            agent=13, read=cost - 20, written=cost - 11, cost=cost, mark=cost + 1,
            context=end - 17, fill=10, percent=end,
        )  # fmt: skip
    wide = cells - 120
    name = max(0, wide // 4)
    model = 13 + 10 + name
    left = model + 33 + wide // 4
    cost = left + 28
    rest = cells - 2
    context = rest - 16
    words = cells >= SPARK_FROM
    after = cost + 1 + (WORD_CELLS if words else MARK_CELLS)
    spark = after if words else 0
    share = after + SPARK_CELLS if words else after
    return Columns(
        agent=13 + name, model=model, model_end=left - 8, read=left, written=left + 9,
        cached=left + 18, cost=cost, mark=cost + 1, words=words, spark=spark,
        share=share, bar=context - 3 - share, context=context, fill=10, percent=rest,
    )  # fmt: skip
