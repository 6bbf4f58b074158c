"""A record as the filter language sees it, and as one line of text."""

from __future__ import annotations

from typing import Any

from watchgate.core.records import Record

_DETAIL_CHARS = 160
_UNHEARD = ("allow", "defer", "inject")


def fields(record: Record) -> dict[str, str]:
    """The fields that a filter can name; `text` is everything that bare words look into."""
    data = record.data
    tool = data.get("tool")
    return {
        "agent": record.agent or "",
        "session": record.session or "",
        "kind": record.kind,
        "tool": tool["name"] if isinstance(tool, dict) else "",
        "risk": str(data.get("risk", "")),
        "state": str(data.get("word") or data.get("gate") or ""),
        "text": words(record),
    }


def words(record: Record) -> str:
    """What the record says, in one line."""
    data: dict[str, Any] = record.data
    if record.kind == "hook.trace":
        return _trace_words(data)
    if record.kind.startswith("grant."):
        return _grant_words(data)
    parts = (
        data.get("summary"),
        data.get("gate"),
        data.get("word"),
        data.get("by"),
        data.get("alarm"),
        data.get("what"),
        data.get("detail"),
        data.get("text"),
        data.get("undecoded"),
        data.get("reason"),
        data.get("decision"),
    )
    return "  ".join(str(part) for part in parts if part)


def _grant_words(data: dict[str, Any]) -> str:
    """Which grant, what it lets run, and what became of it; one of a later version in part."""
    id = str(data.get("id") or data.get("grant") or "")
    hits = data.get("hits")
    parts = (
        f"#{id[:4]}",
        data.get("scope"),
        data.get("summary"),
        f"used {hits} x" if hits else "",
        data.get("by"),
        data.get("why"),
    )
    return "  ".join(str(part) for part in parts if part)


def _trace_words(data: dict[str, Any]) -> str:
    """The call, what its hooks came to, and what each of them did and for how long."""
    made, by = data.get("decision", "none"), data.get("decided_by")
    if made != "none" and by:
        made = f"{made} by {by}"
    if data.get("effect") == "view":
        made = "only watched" if made == "none" else f"only watched, {made} prevented nothing"
    rows = "; ".join(_row_words(row) for row in data.get("rows", ()))
    told = f"{made}, {data.get('took_ms', 0):.0f} ms: {rows}" if rows else made
    return "  ".join(filter(None, (data.get("summary") or data.get("native"), told)))


def _row_words(row: dict[str, Any]) -> str:
    took, detail = row.get("duration_ms"), row.get("why") or row.get("detail", "")
    said = row.get("verdict") if row.get("status", "ran") == "ran" else row.get("status")
    if row.get("role") != "gate" and said in _UNHEARD:
        detail = ""
    words = f"{row.get('handler')} {said}" + (f" {took:.0f} ms" if took is not None else "")
    return f"{words} ({detail[:_DETAIL_CHARS]})" if detail else words
