"""Texts from outside on one line, as the console shows them: safe and without their secrets."""

from __future__ import annotations

from functools import lru_cache

from watchgate.core.redact import redact
from watchgate.core.text import safe_text
from watchgate.ui.theming.ascii_only import spelled


def covered(text: str) -> str:
    """The text with every secret as `<aws-key, 20 chars>` and every hidden character visible.

    To be called before a text is cut to what a line holds: the first part of a secret looks like
    none. Of a text of megabytes the beginning is enough for any line.
    """
    return spelled(_covered(text[:MOST_CHARS]))


MOST_CHARS = 65_536
"""Behind so many characters nothing is shown on one line."""


@lru_cache(maxsize=512)
def _covered(text: str) -> str:
    return safe_text(redact(text))
