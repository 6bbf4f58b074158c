"""A core that keeps few rows: what is kept on purpose is full soon, and what still grows is a leak.

A core keeps the newest 100,000 rows of calls, which an hour of work does not fill.
"""

from __future__ import annotations

import sys

from watchgate.cli import main
from watchgate.core.restore import restore
from watchgate.core.state import State

ROWS_KEPT = 1_000


def keep_few() -> None:
    """Have every state that is made from here on keep fewer rows."""
    for made in (State.__init__, restore):
        defaults = made.__kwdefaults__
        assert defaults is not None
        assert "rows_kept" in defaults
        defaults["rows_kept"] = ROWS_KEPT


if __name__ == "__main__":
    keep_few()
    sys.exit(main(["serve"]))
