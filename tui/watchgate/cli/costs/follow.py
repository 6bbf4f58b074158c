"""`costs --follow`: what changes, each second, until somebody ends it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import msgspec

from watchgate.cli.costs.as_json import told
from watchgate.cli.costs.rows import CostRow
from watchgate.cli.output import complain, json_line
from watchgate.core.ledger.figures import Figures

if TYPE_CHECKING:
    from watchgate.cli.costs.reading import Reading
    from watchgate.cli.costs.view import Asked

EACH_S = 1.0
_CLEARED = "\x1b[H\x1b[2J\x1b[3J"


def follow(book: Reading, asked: Asked, *, as_json: bool, subs: bool) -> None:
    """Show the view whenever it is another one, until somebody ends it."""
    shown: dict[tuple[str, ...], CostRow] | None = None
    faults: set[str] = set()
    while True:
        rows = {row.key: row for row in book.view(asked).rows}
        if as_json:
            for row in changes(shown or {}, rows):
                json_line(told(row))
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
    """Wait for the next second; False would end it."""
    time.sleep(EACH_S)
    return True


def changes(
    before: dict[tuple[str, ...], CostRow], now: dict[tuple[str, ...], CostRow]
) -> list[CostRow]:
    """The rows that are new or different; one that is no more is told with nothing in it."""
    gone = [
        msgspec.structs.replace(
            row, figures=Figures(), cost=None, is_lower_bound=False, unpriced=(), models=(), subs=()
        )
        for key, row in before.items()
        if key not in now
    ]
    return gone + [row for key, row in now.items() if before.get(key) != row]


def _redraw(book: Reading, asked: Asked, *, subs: bool) -> None:
    from watchgate.cli.costs import text

    lines = text(book, book.view(asked), asked, subs=subs)
    head = _CLEARED if sys.stdout.isatty() else ""
    print(head + "\n".join(lines) + ("" if head else "\n"), flush=True)
