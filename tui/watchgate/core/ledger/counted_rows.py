"""The rows of one session as its record carries them, in nano-dollars."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.ledger.call import in_nano
from watchgate.core.ledger.choosing import cost_of
from watchgate.core.ledger.counted import CountedRow
from watchgate.core.ledger.figures import Figures, LedgerRow


def nano(pico: int | None) -> int | None:
    """Converts pico-dollars to nano-dollars; None stays None."""
    return None if pico is None else in_nano(pico)


def counted_rows(rows: Iterable[LedgerRow]) -> tuple[CountedRow, ...]:
    """Converts rows for a record; each is rounded once."""
    return tuple(_counted(row, row.figures) for row in rows)


def _counted(row: LedgerRow, figures: Figures) -> CountedRow:
    return CountedRow(
        day=row.day,
        model=row.model,
        sub=row.sub,
        calls=figures.calls,
        input=figures.input,
        output=figures.output,
        cache_read=figures.cache_read,
        cache_write=figures.cache_write,
        reasoning=figures.reasoning,
        reported=nano(cost_of(figures, "reported")),
        computed=nano(cost_of(figures, "computed")),
        unreported=figures.unreported,
        unpriced=figures.unpriced,
        is_lower_bound=figures.lower_bounds > 0,
    )


def total(rows: Iterable[LedgerRow]) -> Figures:
    """Adds rows up."""
    figures = Figures()
    for row in rows:
        figures = figures.plus(row.figures)
    return figures
