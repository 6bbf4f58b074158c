"""The hosts of addresses: patterns for names, and what makes an address odd."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

import msgspec

from watchgate.core.policy.matching.patterns import Patterns, Sets, compiled, expanded
from watchgate.core.policy.rule_file import Names

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
