"""A filter on the command line: read, or shown with carets under what is wrong in it.

- One record as a line for a person, secrets covered.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.base.since import now_us

if TYPE_CHECKING:
    from watchgate.core.filters.filter_parser import Filter, FilterError, Term
    from watchgate.core.model.records import Record


def record_line(record: Record, *, dated: bool = False) -> str:
    """Writes when, by the clock of this machine, who, what kind of record, and what it says.

    With `dated` the day is told, so that the time can be pasted behind `since:`.
    """
    from watchgate.core.filters.filter_fields import SHOWN_CHARS, record_text
    from watchgate.core.secrets.redact import redact

    at = datetime.fromtimestamp(record.at / 1_000_000, UTC).astimezone()
    time = at.strftime("%Y-%m-%dT%H:%M:%S" if dated else "%H:%M:%S")
    who = f"{record.agent or 'core'} {(record.session or '')[:SHOWN_CHARS]}".strip()
    return f"{time}  {who:<16}  {record.kind:<20}  {redact(record_text(record))}"


HELP = "agent:A tool:T kind:K risk>=high state:denied since:2h -tool:Read text"


def wanted(words: Sequence[str]) -> tuple[str, Filter]:
    """The filter that the words of a command line are, as text and read."""
    import msgspec

    from watchgate.core.filters.filter_parser import FilterError, parse

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

    from watchgate.cli.base.command_environment import here
    from watchgate.cli.history.recorded import session_called
    from watchgate.service.history.recorded_sessions import PastError, SeveralError, find_session
    from watchgate.service.journal.schema import JournalError

    if term.key != "session" or term.prefix:
        return term
    if (named := session_called(term.value)) != term.value:
        return msgspec.structs.replace(term, value=named.partition(":")[2])
    journal = here().journal
    if not journal.exists():
        return term
    try:
        _, session = find_session(journal, term.value)
    except SeveralError as fault:
        raise Stop(str(fault)) from None
    except (PastError, JournalError):
        return term
    return msgspec.structs.replace(term, value=session)


def _point(text: str, fault: FilterError) -> None:
    """The filter on stderr, with carets below the fault."""
    from watchgate.core.base.text import safe_text
    from watchgate.ui.base.formats import width

    before, wrong = safe_text(text[: fault.position]), safe_text(text[fault.position : fault.end])
    print(f"  {safe_text(text)}", file=sys.stderr)
    print("  " + " " * width(before) + "^" * max(1, width(wrong)), file=sys.stderr)
