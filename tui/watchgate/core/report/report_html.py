"""HTML as elements: whatever is put into one is text, and is shown as text.

Nothing from outside can become a tag or the name of an attribute, and what a reader cannot see is
written out, as on the screen.

- Times, amounts and counts as the report writes them; an unknown one reads `?`.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from xml.etree.ElementTree import Element, tostring

import msgspec

from watchgate.core.base import amounts
from watchgate.core.base.amounts import UNKNOWN
from watchgate.core.base.text import safe_text
from watchgate.core.usage.session_usage import NANO

_US = 1_000_000


def moment(at_us: int, zone: tzinfo | None) -> datetime | None:
    """Returns a time (UTC µs) by a zone's clock, or this machine's; None: no clock shows it."""
    try:
        return datetime.fromtimestamp(at_us / _US, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return None


def clock_text(at_us: int, zone: tzinfo | None) -> str:
    """Writes the time of day, `12:04:11`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"{at:%H:%M:%S}"


def day_text(at_us: int, zone: tzinfo | None) -> str:
    """Writes the day, `Fri 20 Nov 2026`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"{at:%a} {at.day} {at:%b %Y}"


def offset(at_us: int, zone: tzinfo | None) -> str:
    """Writes the offset of a zone's clock from UTC, `UTC+01:00`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"UTC{at.isoformat()[-6:]}"


def elapsed_text(ms: float) -> str:
    """Writes elapsed time: `41 ms`, `3.4 s`, `2:05`, `1 h 12 min`."""
    if ms < 1_000:
        return f"{ms:.1f} ms" if 0 < ms < 1 else f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1_000:.1f} s"
    minutes, seconds = divmod(int(ms) // 1_000, 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60:,} h {minutes % 60} min"


def waited_text(seconds: float) -> str:
    """Writes a person's time, `m:ss`."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02d}"


def money(nano: int | None) -> str:
    """Writes nano-dollars as dollars, with three decimals below a cent."""
    return amounts.money(None if nano is None else nano / NANO)


CUT_CHARS = 16_000
"""No single text takes more of the page: a page of many megabytes is read by nobody."""


class PreformattedText(msgspec.Struct, frozen=True):
    """A text whose lines and tabs stay what they are, for an element that keeps them."""

    text: str


Part = Element | PreformattedText | str | None


def element(tag: str, *parts: Part, **attributes: str) -> Element:
    """Builds an element of these parts; a name that Python reserves ends in `_`.

    An attribute without a value is left out, and so is a part that is None.
    """
    given = {name.rstrip("_"): safe_text(value) for name, value in attributes.items() if value}
    made = Element(tag, given)
    for part in parts:
        if isinstance(part, Element):
            made.append(part)
        elif part is not None:
            _add(made, _text(part))
    return made


def html(made: Element) -> str:
    """Writes the element and all that is in it as HTML."""
    return tostring(made, encoding="unicode", method="html")


def cut(text: str) -> tuple[str, str]:
    """Returns as much of a text as the page shows, and a note on the rest (empty if none)."""
    left = len(text) - CUT_CHARS
    if left <= 0:
        return text, ""
    return text[:CUT_CHARS], f"{left:,} more characters are in the export as JSON lines"


def _text(part: PreformattedText | str) -> str:
    if isinstance(part, str):
        return safe_text(part)
    return "\n".join("\t".join(map(safe_text, line.split("\t"))) for line in _lines(part.text))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _add(made: Element, text: str) -> None:
    """Adds text behind whatever the element holds so far."""
    if len(made):
        made[-1].tail = (made[-1].tail or "") + text
    else:
        made.text = (made.text or "") + text
