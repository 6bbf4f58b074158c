"""The keys of a `[[sink]]`: which of them its type uses, and who may print on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args
from urllib.parse import urlsplit

from watchgate.core.config_handlers import SinkConfig, SinkType
from watchgate.core.events import Kind

_PLACE: dict[SinkType, str | None] = {
    "stdout": None,
    "jsonl": "path",
    "webhook": "url",
    "unix-socket": "path",
}
"""The key that says where the records of a sink go."""

_OURS = ("approval", "effect", "policy", "console", "hook")
"""Families of records that no agent sends."""


def check(sink: SinkConfig) -> str | None:
    """Return the fault of this sink, fit to be read; None when there is none."""
    needed = _PLACE[sink.type]
    for key in ("path", "url"):
        value = getattr(sink, key)
        if key == needed and not value:
            return f'a {sink.type} sink needs {key} = "..."; there is no default'
        if key != needed and value is not None:
            return f"{key} does nothing in a {sink.type} sink; remove it"
    if sink.url is not None and (fault := url_fault(sink.url)):
        return fault
    if sink.path is not None and not sink.path.startswith(("/", "~/")):
        return "path must begin with / or ~/: a core runs in no folder of yours"
    if not sink.kinds:
        return "kinds is empty, so nothing would be sent; leave it out to send everything"
    return next(filter(None, map(_kind_fault, sink.kinds)), None)


def check_all(sinks: Sequence[SinkConfig], *, stdout_is_free: bool) -> tuple[int, str] | None:
    """The first sink with a fault, by its index, and the fault; None when there is none.

    `stdout_is_free` is false where stdout belongs to somebody else: a screen, a protocol, a core
    that runs detached.
    """
    destinations: set[tuple[str, str]] = set()
    for index, sink in enumerate(sinks):
        fault = check(sink)
        if fault is None and owns_stdout(sink) and not stdout_is_free:
            fault = (
                "a stdout sink works under `watchgate serve` only: here stdout belongs to the "
                'screen or to nobody; use type = "jsonl"'
            )
        place = (sink.type, sink.path or sink.url or "")
        if fault is None and place in destinations and sink.type in {"stdout", "jsonl"}:
            fault = f"a second {sink.type} sink with the same place mixes their lines; remove one"
        if fault is not None:
            return index, fault
        destinations.add(place)
    return None


def owns_stdout(sink: SinkConfig) -> bool:
    """Return whether this sink prints on stdout, so that nobody else may."""
    return sink.type == "stdout"


def url_fault(url: str) -> str | None:
    """Return the reason why nothing can be posted to this url; None when there is none."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or not url.isascii() or any(char <= " " or char == "\x7f" for char in url):
        return "url must be http://HOST/... or https://HOST/..., in ASCII and without spaces"
    if parts.username is not None or parts.password is not None:
        return "url must hold no user or password: they would be shown and recorded"
    return None


def _kind_fault(kind: str) -> str | None:
    if kind == "*":
        return None
    family = kind.partition(".")[0]
    if kind == f"{family}.*" and family in _families():
        return None
    if kind in get_args(Kind) or (family in _OURS and kind.count(".") == 1 and kind[-1].isalpha()):
        return None
    return (
        f'kinds names {kind!r}, which no record has; allowed: "*", a family such as "tool.*", '
        f'a kind such as "tool.pre"; families: {", ".join(sorted(_families()))}'
    )


def _families() -> frozenset[str]:
    return frozenset((*_OURS, *(kind.partition(".")[0] for kind in get_args(Kind) if "." in kind)))
