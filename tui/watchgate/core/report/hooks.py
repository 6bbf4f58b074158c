"""The hooks of a call, folded away: what each of them did, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from watchgate.core.records import Record
from watchgate.core.report.elements import element
from watchgate.core.report.fields import Data, number, parts, text
from watchgate.core.report.formats import took

_HEAD = ("hook", "role", "did", "", "took", "says")
_WHY = {
    "filter": "its filter passes this by",
    "matcher": "not for this call",
    "after-stop": "another had decided",
    "breaker": "it failed too often",
    "disabled": "switched off",
    "deadline": "no time was left",
    "once": "it has run already",
}


def drawn_hooks(records: Iterable[Record]) -> Element | None:
    """Draws the hooks of a call, a table for each dispatch; None where there was no hook."""
    traces = [record.data for record in records if record.kind == "hook.trace"]
    dispatches = [(data, rows) for data in traces if (rows := parts(data, "rows"))]
    if not dispatches:
        return None
    ran = sum(row.get("status") == "ran" for _, rows in dispatches for row in rows)
    took_ms = sum(_took_ms(data, rows) for data, rows in dispatches)
    return element(
        "details",
        element("summary", f"hooks: {ran:,} ran, {took(took_ms)}"),
        *(_drawn(data, rows) for data, rows in dispatches),
        class_="hooks",
    )


def _took_ms(data: Data, rows: list[Data]) -> float:
    """Returns how long a dispatch took; earlier versions left out the policy's own time."""
    waited_for = [row for row in rows if text(row, "role") == "gate"]
    ends = [(number(each, "start_ms") or 0) + (number(each, "duration_ms") or 0)
            for each in waited_for]  # fmt: skip
    return max(number(data, "took_ms") or 0, *ends, 0)


def _drawn(data: Data, rows: list[Data]) -> Element:
    made, by = text(data, "decision"), text(data, "decided_by")
    decision = "no decision" if made in ("", "none") else f"{made} by {by}" if by else made
    if text(data, "effect") == "view" and made not in ("", "none"):
        decision += ", which prevented nothing"
    head = (text(data, "native"), decision, took(_took_ms(data, rows)))
    names = element("thead", element("tr", *(element("th", name) for name in _HEAD)))
    return element(
        "div",
        element("p", ", ".join(filter(None, head)), class_="why"),
        element("table", names, element("tbody", *map(_row, rows))),
        class_="wide",
    )


def _row(row: Data) -> Element:
    status, time = text(row, "status"), number(row, "duration_ms")
    verdict = text(row, "verdict") if status == "ran" else status
    detail = text(row, "detail") or _WHY.get(text(row, "why"), text(row, "why"))
    ignored = "had no say" if row.get("ignored") is True else ""
    cells = (text(row, "handler"), text(row, "role"), verdict, ignored,
             "" if time is None else took(time), detail)  # fmt: skip
    made = (element("td", cell, class_=name) for cell, name in zip(cells, _CELLS, strict=True))
    return element("tr", *made, class_="" if status == "ran" else "skipped")


_CELLS = ("name", "", "", "", "number", "says")
