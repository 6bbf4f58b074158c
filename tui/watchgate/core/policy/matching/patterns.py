"""Patterns for names, in which `*` stands for any letters, and the sets that name several."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from watchgate.core.patterns.pattern import Pattern, PatternFault, shared
from watchgate.core.policy.rule_file import Names

Sets = Mapping[str, tuple[str, ...]]

_SET = re.compile(r"@([a-z][a-z0-9-]*)")
_MAX_NESTED = 20


class PatternError(ValueError):
    """A pattern or a set that cannot be used; the message says what is wrong with it."""


def each(names: Names) -> tuple[str, ...]:
    """The names, also where only one is given."""
    return (names,) if isinstance(names, str) else names


def expanded(names: Names, sets: Sets, built_in: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The names with those of sets in place of the sets; built-in ones stay as they are."""
    found: dict[str, None] = {}
    _expand(each(names), sets, built_in, found, set(), ())
    return tuple(found)


def _expand(
    names: Iterable[str],
    sets: Sets,
    built_in: frozenset[str],
    found: dict[str, None],
    done: set[str],
    within: tuple[str, ...],
) -> None:
    """Add the names to `found`; a set is opened once, however often it is named."""
    for name in names:
        named = _SET.fullmatch(name)
        if named is None or name in built_in:
            found[name] = None
        elif named[1] in within:
            raise PatternError(f"the set @{named[1]} holds itself; take it out")
        elif named[1] not in sets:
            raise PatternError(
                f"no set is called @{named[1]}; add it under [sets], or mend the name"
            )
        elif len(within) >= _MAX_NESTED:
            raise PatternError(f"the set @{named[1]} is nested too deeply; write its names out")
        elif named[1] not in done:
            done.add(named[1])
            _expand(sets[named[1]], sets, built_in, found, done, (*within, named[1]))


class Patterns(msgspec.Struct, frozen=True):
    """Names of which one is looked for: whole ones, and one expression for those with `*`."""

    whole: frozenset[str] = frozenset()
    search: Callable[[str], object] | None = None

    def __bool__(self) -> bool:
        return bool(self.whole) or self.search is not None

    @property
    def test(self) -> Callable[[str], bool] | None:
        """The test for a text; None where there are no patterns."""
        return self.fit if self else None

    def fit(self, text: str) -> bool:
        """Whether one of them stands for the text."""
        return text in self.whole or (self.search is not None and bool(self.search(text)))


def compiled(names: Iterable[str], *, cased: bool = True) -> Patterns:
    """The patterns for these names; unless `cased`, in large and in small letters."""
    given = tuple(names)
    if not cased:
        sources = "|".join(map(glob_source, given))
        return Patterns(search=shared(sources, re.DOTALL | re.IGNORECASE).fullmatch)
    globs = [glob_source(name) for name in given if "*" in name]
    search = shared("|".join(globs), re.DOTALL).fullmatch if globs else None
    return Patterns(frozenset(name for name in given if "*" not in name), search)


def glob_source(pattern: str) -> str:
    """A pattern as a regular expression for the whole text.

    Each part is taken where it first stands and stays there, so that no text takes long.
    """
    first, *parts = map(re.escape, pattern.split("*"))
    if not parts:
        return first
    within = "".join(f"(?>.*?{part})" for part in parts[:-1] if part)
    return f"{first}{within}.*{parts[-1]}"


def regex(source: str) -> Pattern:
    """A regular expression that somebody wrote; raises `PatternError`."""
    try:
        made = shared(source)
        made.refuse_unbounded()
    except PatternFault as fault:
        raise PatternError(f"{source!r} {fault}") from None
    return made
