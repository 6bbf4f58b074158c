"""Usage and cost by agent, session, model or day: rows that mix no two sources of a cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

import msgspec

from watchgate.cli.costs.used import Used
from watchgate.core.ledger.call import PICO
from watchgate.core.ledger.counted import Source
from watchgate.core.ledger.figures import Figures

By = Literal["session", "model", "day", "agent", "turn", "call"]
_EPOCH = date(1970, 1, 1).toordinal()


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a session, a model, a day, an agent, a turn or a call of a model.

    `cost` is in pico-dollars, None where nobody knows it. `least`: it is a lower bound, as the cost
    of models that are `unpriced` is missing, or calls are. `last` is the newest local day, or the
    moment (UTC µs) of a turn or call.
    """

    by: By
    name: str
    source: Source
    agent: str = ""
    session: str = ""
    figures: Figures = Figures()
    cost: int | None = None
    is_lower_bound: bool = False
    unpriced: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    last: int = 0
    unreadable: int = 0
    cwd: str = ""
    subs: tuple[CostRow, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Return the key that tells the row from all others of the same view."""
        return self.agent, self.session, self.name, self.source


def named(used: Used, by: By) -> tuple[str, str, str]:
    """The row of a view that this belongs to: name, agent and session."""
    if by == "session":
        return used.session, used.agent, used.session
    if by == "model":
        return used.model, "", ""
    if by == "day":
        return day_text(used.day), "", ""
    return used.agent, used.agent, ""


def grouped(parts: Iterable[Used], by: By) -> list[CostRow]:
    """One row for each name and source, in the order in which they are best read."""
    groups: dict[tuple[tuple[str, str, str], Source], list[Used]] = {}
    for each in parts:
        groups.setdefault((named(each, by), each.source), []).append(each)
    rows: dict[tuple[str, ...], CostRow] = {}
    for ((name, agent, session), source), own in groups.items():
        row = _row(own, CostRow(by=by, name=name, source=source, agent=agent, session=session))
        # Models without a price are in the session's own source; by themselves they have none.
        rows[row.key] = joined(rows[row.key], row) if row.key in rows else row
    return sorted(rows.values(), key=_order)


def sub_rows(parts: Iterable[Used]) -> tuple[CostRow, ...]:
    """The sub-agents of one session."""
    groups: dict[str, list[Used]] = {}
    for each in parts:
        if each.sub:
            groups.setdefault(each.sub, []).append(each)
    return tuple(
        _row(own, CostRow(by="session", name=sub, source=own[0].source, agent=own[0].agent))
        for sub, own in sorted(groups.items())
    )


def _row(parts: list[Used], row: CostRow) -> CostRow:
    figures = Figures()
    for each in parts:
        figures = figures.plus(each.figures)
    known = [each.cost for each in parts if each.cost is not None]
    return msgspec.structs.replace(
        row,
        source=row.source if known or row.source == "reported" else "unknown",
        figures=figures,
        cost=sum(known) if known else None,
        is_lower_bound=any(each.is_lower_bound or each.unpriced for each in parts),
        unpriced=_named(each.model for each in parts if each.unpriced),
        models=_named(each.model for each in parts if each.model),
        last=max(each.day for each in parts),
        subs=sub_rows(parts) if row.by == "session" and row.session else (),
    )


def joined(row: CostRow, other: CostRow) -> CostRow:
    """Two rows of one name and source as one."""
    known = [each.cost for each in (row, other) if each.cost is not None]
    return msgspec.structs.replace(
        row,
        figures=row.figures.plus(other.figures),
        cost=sum(known) if known else None,
        is_lower_bound=row.is_lower_bound or other.is_lower_bound,
        unpriced=_named((*row.unpriced, *other.unpriced)),
        models=_named((*row.models, *other.models)),
        last=max(row.last, other.last),
        unreadable=row.unreadable + other.unreadable,
        subs=row.subs + other.subs,
    )


def totals(rows: Iterable[CostRow]) -> list[CostRow]:
    """The sum of each source; they stay apart, as reported and computed costs are not added."""
    by_source: dict[Source, CostRow] = {}
    for row in rows:
        plain = msgspec.structs.replace(row, name="total", agent="", session="", subs=())
        before = by_source.get(row.source)
        by_source[row.source] = plain if before is None else joined(before, plain)
    order: tuple[Source, ...] = ("reported", "computed", "unknown")
    return [by_source[source] for source in order if source in by_source]


def day_text(day: int) -> str:
    """A local day in the form of ISO 8601."""
    try:
        return date.fromordinal(_EPOCH + day).isoformat()
    except (ValueError, OverflowError):
        return str(day)


def _named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _order(row: CostRow) -> tuple[Any, ...]:
    # Sessions as they went on, the newest last; a model or an agent by its name.
    return (row.last if row.by in {"session", "turn", "call"} else 0, row.agent, *row.key)


def usd(pico: int | None) -> float | None:
    """Pico-dollars in dollars, for a line of JSON."""
    return None if pico is None else pico / PICO
