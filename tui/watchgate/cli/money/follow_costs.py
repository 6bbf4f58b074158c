"""`costs --follow`: what changes, each second, until somebody ends it."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from watchgate.cli.base.printing import complain, json_line
from watchgate.cli.money.cost_rows import UsageSum
from watchgate.cli.money.cost_table import nothing, remarks, row_fields, table
from watchgate.core.usage.usage_calls import Figures

if TYPE_CHECKING:
    from watchgate.cli.money.cost_reading import CostReading
    from watchgate.cli.money.cost_view import CostQuery, CostView

EACH_S = 1.0
_CLEARED = "\x1b[H\x1b[2J\x1b[3J"


def follow(book: CostReading, asked: CostQuery, *, as_json: bool, subs: bool) -> None:
    """Shows the view whenever it is another one, until somebody ends it."""
    shown: dict[tuple[str, ...], UsageSum] | None = None
    faults: set[str] = set()
    while True:
        rows = {row.key: row for row in book.view(asked).rows}
        if as_json:
            for row in changes(shown or {}, rows):
                json_line(row_fields(row))
        elif rows != shown:
            _redraw(book, asked, subs=subs)
        shown = rows
        for fault in book.faults():
            if fault not in faults:
                complain(fault)
                faults.add(fault)
        while _wait():
            if book.read(lambda _left: None):
                break
        else:
            return


def _wait() -> bool:
    """Waits for the next second; False would end it."""
    time.sleep(EACH_S)
    return True


def changes(
    before: dict[tuple[str, ...], UsageSum], now: dict[tuple[str, ...], UsageSum]
) -> list[UsageSum]:
    """The rows that are new or different; one that is no more is told with nothing in it."""
    gone = [
        msgspec.structs.replace(
            row, figures=Figures(), cost=None, is_lower_bound=False, unpriced=(), models=(), subs=()
        )
        for key, row in before.items()
        if key not in now
    ]
    return gone + [row for key, row in now.items() if before.get(key) != row]


def _redraw(book: CostReading, asked: CostQuery, *, subs: bool) -> None:
    lines = text(book, book.view(asked), asked, subs=subs)
    head = _CLEARED if sys.stdout.isatty() else ""
    print(head + "\n".join(lines) + ("" if head else "\n"), flush=True)


def text(book: CostReading, costs_view: CostView, asked: CostQuery, *, subs: bool) -> list[str]:
    """Returns the view for a person."""
    if not costs_view.rows:
        keys = book.keys()
        return [nothing(asked, {agent for agent, _ in keys})]
    cells = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    lines = table(asked.by, costs_view.rows, costs_view.sums, subs=subs, cells=cells)
    return [*lines, *remarks(costs_view.sums, book.prices.words())]
