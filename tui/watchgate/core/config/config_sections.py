"""The keys of a `[[sink]]`: which of them its type uses, and who may print on stdout.

- `[costs]` and `[[price]]`: budgets, prices of one's own, and what is read to count usage.
- The keys of an `[[escalation]]`: who is told of a request that nobody answers, and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from watchgate.core.dispatch.handler_config import SinkConfig, SinkType
from watchgate.core.model.events import Kind

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Percent = Annotated[int, msgspec.Meta(ge=1, le=100)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class CostsConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sources that are counted, and the effect of a budget; a budget of 0 is none.

    With `over_budget = "ask"` what the policy would allow by itself is asked once a budget is used
    up. Prices come with the program; with `update_prices` newer ones are fetched.
    """

    transcripts: bool = True
    budget_day_usd: Dollars = 0
    budget_session_usd: Dollars = 0
    warn_percent: Percent = 80
    over_budget: Literal["tell", "ask"] = "tell"
    update_prices: bool = False


class PriceConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The price of one model, in dollars per million tokens; `web_search` per thousand searches.

    It takes the place of what the table says about the model. A cache price that is not given is
    that of `input`.
    """

    model: Name
    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write_5m: Dollars | None = None
    cache_write_1h: Dollars | None = None
    web_search: Dollars | None = None


_PLACE: dict[SinkType, str | None] = {
    "stdout": None,
    "jsonl": "path",
    "webhook": "url",
    "unix-socket": "path",
}
"""The key that says where the records of a sink go."""

_OURS = ("approval", "effect", "policy", "console", "hook")
"""Families of records that no agent sends."""


def sink_fault(sink: SinkConfig) -> str | None:
    """Returns the fault of this sink, fit to be read; None when there is none."""
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


def first_sink_fault(
    sinks: Sequence[SinkConfig], *, stdout_is_free: bool
) -> tuple[int, str] | None:
    """The first sink with a fault, by its index, and the fault; None when there is none.

    `stdout_is_free` is false where stdout belongs to somebody else: a screen, a protocol, a core
    that runs detached.
    """
    destinations: set[tuple[str, str]] = set()
    for index, sink in enumerate(sinks):
        fault = sink_fault(sink)
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
    """Returns whether this sink prints on stdout, so that nobody else may."""
    return sink.type == "stdout"


def url_fault(url: str) -> str | None:
    """Returns the reason why nothing can be posted to this url; None when there is none."""
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


class EscalationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recipient of a held request of `min_risk` or above after it waited `after_s` seconds.

    Either `command` (argv; the message as JSON on stdin) or `url` (the message is posted). With
    `when = "unattended"` only while no console is attached. `name` is the word for it in records.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    min_risk: Literal["low", "medium", "high", "critical"] = "high"
    after_s: Annotated[int, msgspec.Meta(ge=0, le=86_400)] = 60
    when: Literal["unattended", "always"] = "unattended"
    command: tuple[str, ...] = ()
    url: str | None = None
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=60)] = 10


Fault = tuple[str, str]
"""The key that is wrong, and why, fit to be read."""


def escalation_fault(entry: EscalationConfig) -> Fault | None:
    """Returns the fault of this entry; None when there is none."""
    if not entry.name.isprintable():
        return "name", f"{entry.name!r} has a character that cannot be shown; records name it"
    if not entry.command and entry.url is None:
        remedy = 'command = ["/path/to/program"] or url = "https://HOST/..."'
        return "name", f"{entry.name!r} tells nobody: it needs {remedy}; there is no default"
    if entry.command and entry.url is not None:
        return "url", f"{entry.name!r} has a command and a url; write an entry for each"
    if entry.url is not None:
        why = url_fault(entry.url)
        return None if why is None else ("url", why)
    return _command_fault(entry.command)


def first_escalation_fault(entries: Sequence[EscalationConfig]) -> tuple[int, str, str] | None:
    """The first entry with a fault: its index, the key and the fault; None when there is none."""
    names: set[str] = set()
    for index, entry in enumerate(entries):
        if (fault := escalation_fault(entry)) is not None:
            return index, *fault
        if entry.name in names:
            return (
                index,
                "name",
                f"{entry.name!r} is given twice, and records tell them apart by it",
            )
        names.add(entry.name)
    return None


def _command_fault(command: Sequence[str]) -> Fault | None:
    program = command[0]
    if not program:
        return "command", "command names no program: its first text is empty"
    if "/" in program and not program.startswith("/"):
        return "command", f"{program} must begin with /: a core runs in no folder of yours"
    for at, argument in enumerate(command):
        if "\0" in argument:
            return "command", f"command[{at}] holds a NUL character, which no argument can"
    return None
