"""Text guards: hidden characters and sheer length, which keep a person from judging a text."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import category

from watchgate.core.policy.assessment import Finding
from watchgate.core.text import hidden_spans

MAX_CHARS = 10_000
# What lies behind it is not looked at, not even for hidden characters, so that no input costs more
# than a moment; such a text is opaque and too long besides.
MAX_SCANNED_CHARS = 2 * MAX_CHARS


def guard(text: str) -> Iterator[Finding]:
    """Yields one finding for each thing that keeps a person from judging the text."""
    # An odd blank is marked on the screen and read as part of its word: nothing hides behind it.
    spans = hidden_spans(text[:MAX_SCANNED_CHARS])
    if spans := [span for span in spans if category(text[span[0]]) != "Zs"]:
        reason = "Holds characters that cannot be seen or that reorder what is read"
        yield Finding("text.hidden", reason, "unknown", spans[0])
    if len(text) > MAX_CHARS:
        reason = f"Is longer than {MAX_CHARS:,} characters, more than anybody reads"
        yield Finding("text.too-long", reason, "unknown")
