"""Names of sessions in a narrow column: cut so that they can still be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from watchgate.ui.formats import DOTS, cut, cut_name

MOST_NAMES = 500
"""Of more than these nobody sees which are alike, and to compare them takes its time."""


def short_names(names: Iterable[str], cells: int) -> dict[str, str]:
    """Each name in so many cells; those that a cut would make equal are cut where they differ."""
    short = {name: cut_name(name, cells) for name in names}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    if len(short) <= MOST_NAMES:
        for equal in alike.values():
            if len(equal) > 1:
                short |= _cut_where_they_differ(equal, cells)
    return short


def _cut_where_they_differ(names: Sequence[str], cells: int) -> dict[str, str]:
    """The names from the first place on in which they differ."""
    columns = enumerate(zip(*names, strict=False))
    start = next((at for at, column in columns if len(set(column)) > 1), min(map(len, names)))
    room = cells - len(DOTS)
    return {name: DOTS + "".join(cut(name[start:], room)) for name in names}
