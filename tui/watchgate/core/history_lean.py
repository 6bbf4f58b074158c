"""Records without what no row of the history shows: thousands are read for one page of it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.records import Record

SUMMARY_CHARS = 2_000

_READ: Final = frozenset(
    "tool summary cwd rule reason lane gate word risk ok ungated took_ms interrupted by waited_s"
    " alarm why what until name profile before edited_from asked asked_risk".split()
)


def lean(record: Record) -> Record:
    """Returns the record with what a `Folding` reads alone: the text to be written can be long."""
    data: dict[str, Any] = {name: each for name, each in record.data.items() if name in _READ}
    if isinstance(tool := data.get("tool"), dict):
        data["tool"] = {"name": tool.get("name")}
    if isinstance(data.get("before"), dict):
        data["before"] = {}  # that there was another input is all that is read of it
    for name in ("summary", "asked", "what"):
        if isinstance(line := data.get(name), str):
            data[name] = line[:SUMMARY_CHARS]
    return msgspec.structs.replace(record, data=data)
