"""HTML as elements: whatever is put into one is text, and is shown as text.

Nothing from outside can become a tag or the name of an attribute, and what a reader cannot see is
written out, as on the screen.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, tostring

import msgspec

from watchgate.core.text import safe_text

CUT_CHARS = 16_000
"""No single text takes more of the page: a page of many megabytes is read by nobody."""


class Lines(msgspec.Struct, frozen=True):
    """A text whose lines and tabs stay what they are, for an element that keeps them."""

    text: str


Part = Element | Lines | str | None


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


def _text(part: Lines | str) -> str:
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
