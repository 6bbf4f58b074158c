"""Other machines as they are named on the command line: `ssh://[user@]host[:port]`."""

from __future__ import annotations

import re

import msgspec

SCHEME = "ssh://"
HOW = "write ssh://[user@]host[:port], as in ssh://lab2 or ssh://ana@lab2:2222"

# What ssh, its configuration or a shell could take for anything but a name is not let through.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}"
_TARGET = re.compile(
    rf"(?:(?P<user>{_NAME})@)?(?:(?P<host>{_NAME})|\[(?P<address>[0-9A-Fa-f:.]{{2,45}})\])"
    r"(?::(?P<port>[0-9]{1,5}))?/?",
    re.ASCII,
)
_LAST_PORT = 65_535


class BadTarget(ValueError):
    """A target that names no machine; the message says how to write one."""


class Target(msgspec.Struct, frozen=True):
    """A machine that ssh reaches; without a port or user ssh's own configuration decides."""

    host: str
    user: str | None = None
    port: int | None = None

    @property
    def name(self) -> str:
        """Return the name before a session's label; an address without its colons."""
        return self.host.replace(":", ".")

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{user}{host}" + (f":{self.port}" if self.port else "")


def parse_target(text: str) -> Target:
    """The machine that a target names; raises `BadTarget`."""
    if not text.startswith(SCHEME):
        raise BadTarget(f"{text!r} is no target: {HOW}")
    match = _TARGET.fullmatch(text[len(SCHEME) :])
    if match is None:
        raise BadTarget(f"{text!r} does not name a machine: {HOW}")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port <= _LAST_PORT:
        raise BadTarget(f"{text!r}: a port is a number from 1 to {_LAST_PORT}")
    return Target(match["host"] or match["address"], match["user"], port)
