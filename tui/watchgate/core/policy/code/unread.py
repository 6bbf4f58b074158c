"""The end of reading code that holds something which is not understood."""

from __future__ import annotations


class Unread(Exception):
    """Some of the code is not understood; the text says what, as the end of a sentence."""
