"""The records of one session, asked for page by page from whoever has its journal."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core import decoding
from watchgate.core.filter_terms import Filter, Term
from watchgate.core.records import Record
from watchgate.core.text import safe_text
from watchgate.link.lines import LinkError
from watchgate.link.protocol import Refusal
from watchgate.ui.source import Call

PAGE = 2_000
MOST = 50_000
"""The newest so many records of a session are played; `watchgate replay` plays any number."""


class NotFetched(Exception):
    """The records did not come; says why."""


class _Page(msgspec.Struct, frozen=True):
    records: tuple[Record, ...] = ()
    next: int | None = None


async def fetch(
    call: Call, agent: str, session: str, on_progress: Callable[[int], None]
) -> list[Record]:
    """The records of a session, oldest first; `told` hears how many there are so far.

    Raises `NotFetched`.
    """
    wanted = str(Filter((Term("agent", agent), Term("session", session))))
    records: list[Record] = []
    last: int | None = None
    while len(records) < MOST:
        page = await _page(call, wanted, last)
        records += [each for each in page.records if (each.agent, each.session) == (agent, session)]
        if page.next is None or (last is not None and page.next >= last):
            break
        last = page.next
        on_progress(len(records))
    if not records:
        raise NotFetched("no record of this session is kept")
    return records[:MOST][::-1]


async def _page(call: Call, wanted: str, last: int | None) -> _Page:
    try:
        answer = await call("search", what="records", filter=wanted, to_seq=last, limit=PAGE)
        if isinstance(answer, Refusal):
            raise NotFetched(safe_text(answer.message))
        return decoding.convert(answer.ok, _Page, from_attributes=True)
    except LinkError as lost:
        raise NotFetched(safe_text(str(lost))) from None
    except msgspec.ValidationError as fault:
        raise NotFetched(f"the answer cannot be read ({safe_text(str(fault))})") from None
