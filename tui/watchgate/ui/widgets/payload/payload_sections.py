"""The raw data of a request or a call, in sections of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from watchgate.core.base.amounts import count
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record, RequestData
from watchgate.core.model.views import PendingView
from watchgate.ui.base.formats import clock, home, short_id
from watchgate.ui.widgets.base.request_text import Piece, pieces
from watchgate.ui.widgets.payload.json_view import Fact, PageSection

BYTES_PER_KB = 1_000
RECORDS_SHOWN = 40
_AS_SENT = "as the agent sent it"
_LOOKED_FOR = "looking for its records"


def size(value: Any) -> str:
    """Returns the size of a value as JSON: `412 bytes`, `1.4 kB`, `2.6 MB`."""
    number = len(msgspec.json.encode(value))
    if number < BYTES_PER_KB:
        return f"{number} bytes"
    if number < BYTES_PER_KB**2:
        return f"{number / BYTES_PER_KB:.1f} kB"
    return f"{number / BYTES_PER_KB**2:.1f} MB"


def request_sections(view: PendingView, home_dir: str) -> tuple[PageSection, ...]:
    """Describes an open request: sender, digest by which it is decided, and whole input."""
    data = view.data
    tool = data.tool
    facts: tuple[Fact, ...] = (
        ("request", view.id),
        ("call", view.call),
        ("event", f"{data.native}, lane {data.lane}"),
        ("tool", tool.native_name),
        ("cwd", home(data.cwd, home_dir)),
        ("digest", f"sha256 {data.digest}"),
    )
    edited = f"you edited {short_id(data.edited_from)}" if data.edited_from else "rewritten"
    sections = [
        _head(tool.name, view.label, view.agent, short_id(view.id), facts),
        PageSection(_titled(data), aside=size(tool.input), value=tool.input),
    ]
    if data.before is not None:
        sections.append(
            PageSection(_AS_SENT, aside=f"{size(data.before)}, {edited} since", value=data.before)
        )
    if data.env:
        sections.append(PageSection("where the agent runs", value=data.env))
    return tuple(sections)


def call_sections(
    row: CallRow, records: Sequence[Record] | None, why_not: str
) -> tuple[PageSection, ...]:
    """Describes a call: its row, and the journal's records of it (None: not read yet).

    The journal keeps what its settings allow, with secrets covered.
    """
    facts: tuple[Fact, ...] = (
        ("call", row.call),
        ("session", row.session),
        ("request", row.request or ""),
        ("began", clock(row.at)),
    )
    head = _head(row.tool, row.label, row.agent, f"{row.glyph} {row.stage}".strip(), facts)
    if records is None:
        return (head, PageSection("records", facts=(("", why_not or _LOOKED_FOR),)))
    if not records:
        return (head, PageSection("records", facts=(("", "the journal has none of it"),)))
    sections = [head]
    for record in records[:RECORDS_SHOWN]:
        title = f"{record.seq} {record.kind}"
        sections.append(PageSection(title, aside=f"{clock(record.at)}, {size(record.data)}",
                             value=record.data))  # fmt: skip
    if len(records) > RECORDS_SHOWN:
        more = count(len(records) - RECORDS_SHOWN)
        sections.append(
            PageSection("more", facts=(("", f"{more} records more: watchgate search"),))
        )
    return tuple(sections)


def _titled(data: RequestData) -> str:
    return "input" if data.before is None else "input that would run"


def _head(tool: str, label: str, agent: str, more: str, facts: tuple[Fact, ...]) -> PageSection:
    """Returns the section without a title: tool, session and agent in a line, facts below it.

    Args:
        tool: Name of the tool.
        label: Label of the session.
        agent: Name of the agent.
        more: The end of the line, dim.
        facts: Labels and values below it.
    """
    title = [
        *pieces(tool[:60]),
        Piece("   "),
        *(msgspec.structs.replace(piece, marked=True) for piece in pieces(label[:60])),
        Piece("  "),
        *(_dimmed(piece) for piece in pieces(agent[:20])),
        Piece("   "),
        *(_dimmed(piece) for piece in pieces(more)),
    ]
    return PageSection("", head=tuple(title), facts=facts)


def _dimmed(piece: Piece) -> Piece:
    return msgspec.structs.replace(piece, ink="dim")
