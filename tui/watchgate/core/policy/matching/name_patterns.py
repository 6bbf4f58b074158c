"""Name patterns, in which `*` stands for any letters, and sets of names.

- The hosts of addresses: patterns for names, and what makes an address odd.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import SplitResult, urlsplit

import msgspec

from watchgate.core.base.patterns.pattern import Pattern, PatternFault, shared
from watchgate.core.policy.inputs.rule_file import Names

Sets = Mapping[str, tuple[str, ...]]

_SET = re.compile(r"@([a-z][a-z0-9-]*)")
_MAX_NESTED = 20


class PatternError(ValueError):
    """Raised for a pattern or a set that cannot be used; the message says what is wrong."""


def each(names: Names) -> tuple[str, ...]:
    """Returns the names as a tuple, also where only one is given."""
    return (names,) if isinstance(names, str) else names


def expanded(names: Names, sets: Sets, built_in: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Replaces sets by their names; built-in sets stay as they are."""
    expanded_names: dict[str, None] = {}
    _expand(each(names), sets, built_in, expanded_names, set(), ())
    return tuple(expanded_names)


def _expand(
    names: Iterable[str],
    sets: Sets,
    built_in: frozenset[str],
    into: dict[str, None],
    done: set[str],
    within: tuple[str, ...],
) -> None:
    """Adds the names to `into`; a set is opened once, however often it is named.

    Args:
        names: Names, some of which stand for sets.
        sets: The sets by name, without the `@`.
        built_in: Names of built-in sets, which stay as they are.
        into: Takes the names, in their order.
        done: The sets that were opened already.
        within: The sets that are being opened.
    """
    for name in names:
        named = _SET.fullmatch(name)
        if named is None or name in built_in:
            into[name] = None
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
            _expand(sets[named[1]], sets, built_in, into, done, (*within, named[1]))


class Patterns(msgspec.Struct, frozen=True):
    """Compiled names: whole ones, and one expression for those with `*`."""

    whole: frozenset[str] = frozenset()
    search: Callable[[str], object] | None = None

    def __bool__(self) -> bool:
        return bool(self.whole) or self.search is not None

    @property
    def test(self) -> Callable[[str], bool] | None:
        """The test for a text; None where there are no patterns."""
        return self.fit if self else None

    def fit(self, text: str) -> bool:
        """Returns whether one of them stands for the text."""
        return text in self.whole or (self.search is not None and bool(self.search(text)))


def compiled(names: Iterable[str], *, cased: bool = True) -> Patterns:
    """Compiles these names; unless `cased`, without regard to letter case."""
    given = tuple(names)
    if not cased:
        sources = "|".join(map(glob_source, given))
        return Patterns(search=shared(sources, re.DOTALL | re.IGNORECASE).fullmatch)
    globs = [glob_source(name) for name in given if "*" in name]
    search = shared("|".join(globs), re.DOTALL).fullmatch if globs else None
    return Patterns(frozenset(name for name in given if "*" not in name), search)


def glob_source(pattern: str) -> str:
    """Translates a pattern into a regular expression for the whole text.

    Each part is taken where it first stands and stays there, so that no text takes long.
    """
    first, *parts = map(re.escape, pattern.split("*"))
    if not parts:
        return first
    within = "".join(f"(?>.*?{part})" for part in parts[:-1] if part)
    return f"{first}{within}.*{parts[-1]}"


def regex(source: str) -> Pattern:
    """Compiles a regular expression of a rule; raises `PatternError`."""
    try:
        made = shared(source)
        made.refuse_unbounded()
    except PatternFault as fault:
        raise PatternError(f"{source!r} {fault}") from None
    return made


KINDS = frozenset(("@address", "@lookalike", "@credentials", "@scheme", "@unreadable"))


class Hosts(msgspec.Struct, frozen=True):
    """The addresses that are meant: kinds of them, and patterns for their hosts."""

    kinds: frozenset[str]
    patterns: Patterns

    def fit(self, address: str) -> bool:
        """Returns whether an address is meant."""
        host, kinds = kinds_of(address)
        return not kinds.isdisjoint(self.kinds) or (bool(host) and self.patterns.fit(host))

    def fit_only(self, address: str) -> bool:
        """Returns whether an address is meant and nothing about it is odd."""
        host, kinds = kinds_of(address)
        return not kinds and bool(host) and self.patterns.fit(host)


def compiled_hosts(names: Names, sets: Sets) -> Hosts:
    """Compiles the matcher of a rule's addresses; raises `PatternError`."""
    given = expanded(names, sets, KINDS)
    patterns = compiled(name.lower() for name in given if name not in KINDS)
    return Hosts(KINDS.intersection(given), patterns)


def kinds_of(address: str) -> tuple[str, frozenset[str]]:
    """Returns the host of an address in small letters, and the kinds of oddness that it has."""
    try:
        parts = urlsplit(address)
        if not parts.scheme:
            parts = urlsplit("//" + address)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return "", frozenset(("@unreadable",))
    return host, frozenset(_kinds(parts, host))


def _kinds(parts: SplitResult, host: str) -> list[str]:
    kinds = []
    if parts.scheme not in ("http", "https", ""):
        kinds.append("@scheme")
    if "@" in parts.netloc:
        kinds.append("@credentials")
    if _is_address(host):
        kinds.append("@address")
    elif not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        kinds.append("@lookalike")
    return kinds


def _is_address(host: str) -> bool:
    """Returns whether a host is an address, also as a number: `2130706433` or `0x7f.1`."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        last = host.rpartition(".")[2]
        return last.isdigit() or last.startswith("0x")
    return True
