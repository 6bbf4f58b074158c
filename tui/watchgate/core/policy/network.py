"""The risk of tools that fetch from the network."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.policy.assessment import Assessment, Finding, judge
from watchgate.core.policy.folders import Place
from watchgate.core.policy.guards import guard
from watchgate.core.summary import summary


def assess_fetch(tool: Tool, _place: Place) -> Assessment:
    """What the rules say about a call that reads an address or searches the web."""
    findings = [*guard(summary(tool))]
    for number, address in enumerate(tool_input.urls(tool)):
        # Only the first one is shown, so only in it can a span be marked.
        findings.extend(_by_address(address, shown=number == 0))
    findings.append(Finding("net.read", "Reads from the network", "medium"))
    return judge(findings)


def _by_address(address: str, *, shown: bool) -> Iterator[Finding]:
    span = (0, len(address)) if shown else None
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        yield Finding("net.bad-address", "Has an address that cannot be read", "unknown", span)
        return
    if parts.scheme not in ("http", "https", ""):
        yield Finding("net.scheme", "Uses another protocol than the web's", "high", span)
    if _has_credentials(parts):
        yield Finding("net.credentials", "Carries a user name or password", "high", span)
    if _is_address(host):
        yield Finding("net.bare-address", "Goes to a bare address instead of a name", "high", span)
    elif not host.isascii():
        reason = "Has a host name with letters that may look like others"
        yield Finding("net.lookalike", reason, "high", span)


def _has_credentials(parts: SplitResult) -> bool:
    return "@" in parts.netloc


def _is_address(host: str) -> bool:
    """Also numbers that resolve to an address, such as `2130706433` and `0x7f.1`."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2]
        return last.isdigit() or last.startswith("0x")
    return True
