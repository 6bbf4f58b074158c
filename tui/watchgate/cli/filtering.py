"""A filter on the command line: read, or shown with carets under what is wrong in it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.since import now_us

if TYPE_CHECKING:
    from watchgate.core.filters import Filter, FilterError, Term

HELP = "agent:A tool:T kind:K risk>=high state:denied since:2h -tool:Read text"


def wanted(words: Sequence[str]) -> tuple[str, Filter]:
    """The filter that the words of a command line are, as text and read."""
    import msgspec

    from watchgate.core.filters import FilterError, parse

    text = " ".join(words)
    try:
        taken = parse(text, now_us=now_us())
    except FilterError as fault:
        _point(text, fault)
        raise Stop(fault.message, Exit.USAGE) from None
    return text, msgspec.structs.replace(taken, terms=tuple(map(_by_id, taken.terms)))


def _by_id(term: Term) -> Term:
    """A session by its id, which is all that records tell; one that nothing tells of stays."""
    import msgspec

    from watchgate.cli.place import here
    from watchgate.cli.recorded import session_called
    from watchgate.service.journal.schema import JournalError
    from watchgate.service.past_sessions import PastError, SeveralError, find

    if term.key != "session" or term.prefix:
        return term
    if (named := session_called(term.value)) != term.value:
        return msgspec.structs.replace(term, value=named.partition(":")[2])
    journal = here().journal
    if not journal.exists():
        return term
    try:
        _, session = find(journal, term.value)
    except SeveralError as fault:
        raise Stop(str(fault)) from None
    except (PastError, JournalError):
        return term
    return msgspec.structs.replace(term, value=session)


def _point(text: str, fault: FilterError) -> None:
    """The filter on stderr, with carets below the fault."""
    from watchgate.core.text import safe_text
    from watchgate.ui.formats import width

    before, wrong = safe_text(text[: fault.position]), safe_text(text[fault.position : fault.end])
    print(f"  {safe_text(text)}", file=sys.stderr)
    print("  " + " " * width(before) + "^" * max(1, width(wrong)), file=sys.stderr)
