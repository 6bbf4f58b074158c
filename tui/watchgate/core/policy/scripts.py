"""Detection of names that mix letters of several scripts and may pass for names in one.

A name in any one script is as good as another, also with digits, signs or a Latin ending
(`отчёт-2.pdf`), and composed or not: people name their files so. What nobody types is one run of
letters out of two of the scripts whose letters look alike, such as Latin with one Cyrillic letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from watchgate.core.policy.assessment import Finding
from watchgate.core.text import Span

_LOOK_ALIKE = frozenset(("LATIN", "CYRILLIC", "GREEK"))
# An accent that stands by itself does not end a run of letters.
_RUN = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f])+")
_SHOWN_CHARS = 40
_SHOWN_LETTERS = 3


def mixed_scripts(
    names: Iterable[tuple[str, Span | None]], segment: int | None = None
) -> Iterator[Finding]:
    """Yields a finding for each name with a run of letters of several scripts.

    The finding names the odd letters by code point. A name is given with its span in the shown
    text; one with a blank in it is prose.
    """
    for name, span in names:
        if not name.isascii() and (run := _mixed_run(name)):
            reason = (
                f"Mixes letters of several scripts, so it may be another name: {_odd_text(run)}"
            )
            yield Finding("text.mixed-scripts", reason, "medium", span, segment)


# A text may hold the same name many times.
@lru_cache(maxsize=64)
def _mixed_run(name: str) -> str:
    """Returns the first run of letters of several scripts; empty without any, and for prose."""
    if any(map(str.isspace, name)):
        return ""
    return next((run for run in _RUN.findall(name) if len(_scripts(run)) > 1), "")


def _scripts(run: str) -> frozenset[str]:
    """Returns the scripts, of those that look alike, to which the letters belong."""
    return _LOOK_ALIKE.intersection(map(_script, run))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _odd_text(run: str) -> str:
    """Returns a text that names the letters in the minority, each once, by code point."""
    scripts = [_script(letter) for letter in run]
    main_script = max(_scripts(run), key=scripts.count)
    others = [each for each in dict.fromkeys(run) if _script(each) in _LOOK_ALIKE - {main_script}]
    letters = ", ".join(
        f"{each} is U+{ord(each):04X} {unicodedata.name(each)}" for each in others[:_SHOWN_LETTERS]
    )
    more = f", and {len(others) - _SHOWN_LETTERS} more" if len(others) > _SHOWN_LETTERS else ""
    shown = run if len(run) <= _SHOWN_CHARS else f"{run[:_SHOWN_CHARS]}..."
    return f"in {shown} {letters}{more}"
