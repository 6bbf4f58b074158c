"""A filter on the command line: read, or shown with carets under what is wrong in it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.since import now_us

if TYPE_CHECKING:
    from watchgate.core.filters import Filter, FilterError

HELP = "agent:A tool:T kind:K risk>=high state:denied since:2h -tool:Read text"


def wanted(words: Sequence[str]) -> tuple[str, Filter]:
    """The filter that the words of a command line are, as text and read."""
    from watchgate.core.filters import FilterError, parse

    text = " ".join(words)
    try:
        return text, parse(text, now_us=now_us())
    except FilterError as fault:
        _point(text, fault)
        raise Stop(fault.message, Exit.USAGE) from None


def _point(text: str, fault: FilterError) -> None:
    """The filter on stderr, with carets below the fault."""
    from watchgate.core.text import safe_text
    from watchgate.ui.formats import width

    before, wrong = safe_text(text[: fault.position]), safe_text(text[fault.position : fault.end])
    print(f"  {safe_text(text)}", file=sys.stderr)
    print("  " + " " * width(before) + "^" * max(1, width(wrong)), file=sys.stderr)
