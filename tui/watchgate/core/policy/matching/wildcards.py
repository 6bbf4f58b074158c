"""What a wildcard of the shell may become: `cat .e*` may read `.env` and does not say so.

A name that starts with its wildcard, such as `*` or `*.py`, is left out: it stands for all that
lies there, and would meet every pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WILD = re.compile(r"\*+|\?|\[[^]/]+]")
_MEANS = {"?": "[^/]"}


def sample(pattern: str) -> str:
    """A path that a pattern for paths is about, or the folder that it is about with all below."""
    return _WILD.sub("x", pattern.removesuffix("/**"))


def may_become(forms: Iterable[str], anchored: Iterable[str], deep: Iterable[str]) -> bool:
    """Whether a word with wildcards, in one of its forms, may become one of these samples.

    Or what lies below one: `anchored` ones start where the form does, `deep` ones anywhere in it.
    """
    for form in forms:
        parts = form.split("/")
        if any(_becomes(parts[: _count(wanted)], wanted) for wanted in anchored):
            return True
        for wanted in deep:
            count = _count(wanted)
            starts = range(len(parts) - count + 1)
            if any(_becomes(parts[start : start + count], wanted) for start in starts):
                return True
    return False


def _count(path: str) -> int:
    return path.count("/") + 1


def _becomes(parts: list[str], wanted: str) -> bool:
    text = "/".join(parts)
    if not _WILD.search(text) or any(map(_WILD.match, parts)):
        return False
    return re.fullmatch(_source(text), wanted) is not None


def _source(text: str) -> str:
    found, done = [], 0
    for wild in _WILD.finditer(text):
        found.append(re.escape(text[done : wild.start()]))
        found.append(_MEANS.get(wild[0], "[^/]*"))
        done = wild.end()
    return "".join(found) + re.escape(text[done:])
