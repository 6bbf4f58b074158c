"""ASCII and nothing else, for terminals that show nothing else.

Two layers, because nobody may be asked to allow what was not shown. What a decision hangs on is
spelled out before it is laid out (`spelled`: `<U+4E2D>`), so that no two texts look the same.
Whatever is still not ASCII when lines are painted (our own bars and rules, names in narrow columns)
is replaced cell by cell (`ascii_cells`), so that columns stay where they are. Textual's part of
that, `AsciiLines`, stands with the terminal's driver: commands write texts without textual.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

from rich.cells import cell_len

Given = ParamSpec("Given")
Made = TypeVar("Made")

OWN = str.maketrans("━─▁▂▃▄▅▆▇█", "=-_.-:=+*#")
"""Characters that the console itself draws: bars, rules, and the heights of a small graph."""

UNSHOWN = "?"
FOREIGN = re.compile(r"[^\x00-\x7f]")
_FOREIGN_RUN = re.compile(r"[^\x00-\x7f]+")

_asked: ContextVar[bool] = ContextVar("ascii_only", default=False)


def ask_ascii(asked: bool) -> None:
    """Sets whether everything drawn from here on is for a terminal that shows ASCII alone."""
    _asked.set(asked)


def ascii_asked() -> bool:
    """Returns whether this terminal shows ASCII alone."""
    return _asked.get()


def as_escape(character: str) -> str:
    """A character spelled out, as `core.text` spells those that cannot be seen."""
    return f"<U+{ord(character):04X}>"


def spelled(text: str) -> str:
    """A safe text, with everything but ASCII as visible escapes where the terminal needs that."""
    if text.isascii() or not _asked.get():
        return text
    return FOREIGN.sub(lambda match: as_escape(match.group()), text)


def remembered(maxsize: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Caches like `lru_cache`, for a function whose text is spelled out on some terminals."""

    def decorate(function: Callable[Given, Made]) -> Callable[Given, Made]:
        caches = {
            asked: cast("Callable[Given, Made]", lru_cache(maxsize)(function))
            for asked in (False, True)
        }

        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Made:
            return caches[_asked.get()](*args, **kwargs)

        return call

    return decorate


def ascii_cells(text: str) -> str:
    """A text in ASCII that takes the same cells."""
    return _FOREIGN_RUN.sub(lambda match: UNSHOWN * cell_len(match.group()), text.translate(OWN))
