"""A record as the filter language sees it, and as one line of text."""

from __future__ import annotations

from typing import Any

from watchgate.core.records import Record


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
