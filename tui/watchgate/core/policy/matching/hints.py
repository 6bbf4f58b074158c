"""Names that a path must have before patterns for paths can fit it.

Nearly all paths have nothing of what a long list of patterns wants, and three looks into sets tell
so where its expression would try one pattern after another. Whatever is in doubt may fit: only the
expression says that something does. Letters are compared without case, as most rules do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

_WILD = re.compile(r"[*?\[]")
_FRONT_CHARS = 3
# A path may be written with these or without them.
_MARKS = frozenset(("", "~", "."))


class Names(msgspec.Struct, frozen=True):
    """The names in some paths, what they start with, and what stands behind their last dots."""

    whole: frozenset[str]
    fronts: frozenset[str]
    ends: frozenset[str]


def names_in(paths: Iterable[str]) -> Names:
    """Returns the names in these paths, without case."""
    whole = frozenset("/".join(paths).casefold().split("/"))
    fronts = frozenset([name[:_FRONT_CHARS] for name in whole])
    ends = frozenset([name.rpartition(".")[2] for name in whole if "." in name])
    return Names(whole, fronts, ends)


class Hints(msgspec.Struct, frozen=True):
    """Parts of names, one for each pattern, that a fitting path has; `any` if one has none."""

    whole: frozenset[str]
    fronts: frozenset[str]
    ends: frozenset[str]
    any: bool

    def may_fit(self, names: Names) -> bool:
        """Returns whether a pattern may fit one of the paths with these names."""
        return (
            self.any
            or not self.whole.isdisjoint(names.whole)
            or not self.fronts.isdisjoint(names.fronts)
            or not self.ends.isdisjoint(names.ends)
        )


def hints(patterns: Iterable[str]) -> Hints:
    """Returns the hints of these patterns, from the start on or behind a slash."""
    texts_by_kind: dict[str, set[str]] = {"whole": set(), "fronts": set(), "ends": set(), "": set()}
    for pattern in patterns:
        kind, text = _hint(pattern.casefold())
        texts_by_kind[kind].add(text)
    whole, fronts, ends, none = map(frozenset, texts_by_kind.values())
    return Hints(whole, fronts, ends, bool(none))


def _hint(pattern: str) -> tuple[str, str]:
    """Returns the last name before any wildcard; else the start or end of the name with one."""
    last = ""
    for name in pattern.split("/"):
        wild = _WILD.search(name)
        if wild is None:
            last = last if name in _MARKS else name
            continue
        front, back = name[: wild.start()], _WILD.split(name)[-1]
        if last:
            break
        if len(front) >= _FRONT_CHARS:
            return "fronts", front[:_FRONT_CHARS]
        # These may stand for a slash, so that what is behind them is of another name.
        if "." in back and "**" not in name and "[" not in name:
            return "ends", back.rpartition(".")[2]
        return "", ""
    return ("whole", last) if last else ("", "")
