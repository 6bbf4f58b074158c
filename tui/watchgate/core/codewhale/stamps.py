"""The `at` of an envelope is RFC 3339 with offset and 0 to 9 fractional digits."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PARTS = re.compile(
    r"(?P<whole>\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(?P<part>\d{1,9}))?"
    r"(?P<offset>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def written(wall_us: int) -> str:
    """Returns UTC µs since the epoch as CodeWhale writes them: `...T11:19:27.482913+00:00`."""
    return (_EPOCH + wall_us * _MICROSECOND).isoformat(timespec="microseconds")


def read(at: str) -> int | None:
    """Returns UTC µs since the epoch, digits beyond them cut off; None for any other text."""
    parts = _PARTS.fullmatch(at)
    if parts is None:
        return None
    offset = "+00:00" if parts["offset"] in "Zz" else parts["offset"]
    try:
        moment = datetime.fromisoformat(parts["whole"].upper() + offset)
    except ValueError:
        return None
    return (moment - _EPOCH) // _MICROSECOND + int((parts["part"] or "")[:6].ljust(6, "0"))
