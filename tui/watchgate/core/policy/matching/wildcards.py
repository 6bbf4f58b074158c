"""Expansions of wildcards: `cat .e*` may read `.env` and does not say so.

A name that starts with its wildcard, such as `*` or `*.py`, is left out: it stands for all that
lies there, and would meet every pattern. Only what asks is held against them, without case.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

_WILD = re.compile(r"\*+|\?|\[[^]/]{1,255}]")
_ALONE = re.compile(r"\[(\w)\]")
_PIECES = re.compile(r"\*+|\?|\[[^]/]{1,255}]|.", re.DOTALL)


class Samples(msgspec.Struct, frozen=True):
    """Sample paths of patterns, split into names and sorted; `heads` are their first names."""

    paths: tuple[tuple[str, ...], ...] = ()
    heads: tuple[str, ...] = ()


def samples(patterns: Iterable[str]) -> Samples:
    """Makes a sample path of each pattern, or of the folder that it takes in with all below."""
    plain = (_ALONE.sub(r"\1", pattern.removesuffix("/**")) for pattern in patterns)
    texts = {_WILD.sub("x", pattern).lower() for pattern in plain}
    paths = tuple(sorted(tuple(text.split("/")) for text in texts))
    return Samples(paths, tuple(path[0] for path in paths))


def may_become(forms: Sequence[str], anchored: Samples, deep: Samples) -> bool:
    """Returns whether a word with wildcards, in one of its forms, may become one of these samples.

    Or what lies below one: `anchored` ones start where the form does, `deep` ones anywhere in it.
    All forms end alike, so that only their first names tell them apart.
    """
    for place, form in enumerate(forms):
        names = form.lower().split("/")
        if _becomes(names, 0, anchored):
            return True
        starts = range(1 if place else len(names))
        if deep.paths and any(_becomes(names, start, deep) for start in starts):
            return True
    return False


def _becomes(names: list[str], start: int, among: Samples) -> bool:
    first = names[start]
    wild = _WILD.search(first)
    known = first[: wild.start()] if wild else first
    if wild and not known:
        return False
    index = bisect_left(among.heads, known)
    for path in among.paths[index:]:
        if not (path[0].startswith(known) if wild else path[0] == known):
            return False
        if _fits(names[start : start + len(path)], path):
            return True
    return False


def _fits(names: list[str], path: tuple[str, ...]) -> bool:
    """Returns whether these names, one with a wildcard, may become those of the path."""
    if len(names) != len(path):
        return False
    some = False
    for name, wanted in zip(names, path, strict=True):
        wild = _WILD.search(name)
        if wild is None:
            if name != wanted:
                return False
        elif not wild.start() or not wanted.startswith(name[: wild.start()]):
            return False
        else:
            some = True
    return some and all(map(_fits_name, names, path))


def _fits_name(name: str, wanted: str) -> bool:
    """Returns whether a name may become the one wanted; an agent wrote it, so each part stays."""
    parts = [""]
    for piece in _PIECES.findall(name):
        if piece[0] == "*" or (len(piece) > 1 and piece[0] == "["):
            parts.append("")
        else:
            parts[-1] += "." if piece == "?" else re.escape(piece)
    if len("".join(parts)) > 2 * len(wanted):
        return False
    head, *more = parts
    within = "".join(f"(?>.*?{part})" for part in more[:-1] if part)
    tail = f".*{more[-1]}" if more else ""
    return re.fullmatch(f"{head}{within}{tail}", wanted, re.DOTALL) is not None
