"""The keys of an `[[escalation]]`: who is told of a request that nobody answers, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from watchgate.core.config_sinks import url_fault


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


def check(entry: EscalationConfig) -> Fault | None:
    """Return the fault of this entry; None when there is none."""
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


def check_all(entries: Sequence[EscalationConfig]) -> tuple[int, str, str] | None:
    """The first entry with a fault: its index, the key and the fault; None when there is none."""
    names: set[str] = set()
    for index, entry in enumerate(entries):
        if (fault := check(entry)) is not None:
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
