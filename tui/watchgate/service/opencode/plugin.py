"""Our plugin for OpenCode and the one that checks it, with what this installation needs in them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from watchgate.agents.opencode.adapter import OpenCode
from watchgate.agents.opencode.events import BEFORE
from watchgate.agents.opencode.tools import READS
from watchgate.core import decoding
from watchgate.core.events import Lane
from watchgate.service.setup.command import PASSED, Client, Installed
from watchgate.service.setup.forms.editor import Written

SOURCE: Final = "opencode_plugin.js"
CHECK: Final = "opencode_check.js"
NAME, CHECK_NAME = "watchgate.js", "watchgate-check.js"
"""The names of the two where they are installed."""

MARK: Final = "// Watchgate's plugin for OpenCode."
_SETUP: Final = b"const SETUP = {}\n"
_WRITTEN: Final = "const SETUP = "
_DAMAGED: Final = (
    f"watchgate: the plugin {NAME} is not the one that was installed, so nothing judges this call. "
    "Run watchgate install opencode, then start OpenCode again. "
    "This is not a refusal by a person. Do not try another way; stop and report."
)


def contents(client: Client, profile: str) -> bytes:
    """The plugin for this client and profile; raises `ValueError` for an unknown profile."""
    return _filled(SOURCE, _setup(client, profile))


def check(plugin: bytes, profile: str) -> bytes:
    """The plugin that throws, where the other beside it is not this, what that would ask about."""
    free = () if profile == "strict" else READS
    setup: dict[str, object] = {
        "plugin": NAME,
        "digest": sha256(plugin).hexdigest(),
        "gates": profile != "watch",
        "free": free,
        "closed": _DAMAGED,
    }
    return _filled(CHECK, setup)


def _filled(source: str, setup: dict[str, object]) -> bytes:
    text = resources.files("watchgate").joinpath(source).read_bytes()
    return text.replace(_SETUP, _WRITTEN.encode() + msgspec.json.encode(setup) + b"\n", 1)


def is_ours(content: bytes) -> bool:
    """Whether a file is this plugin, as this or an earlier version wrote it."""
    return content.startswith(MARK.encode())


class _Setup(msgspec.Struct, frozen=True):
    """What an installed plugin says of the client that it runs."""

    python: str
    client: str
    socket: str
    deadline_s: float
    lanes: dict[str, str]
    strict: bool
    closed: str


def commands(content: str) -> Iterator[tuple[Written, Installed]]:
    """What this plugin runs before a call, by lane; nothing for a file that is none of ours."""
    found = _read(content)
    if found is None:
        return
    waiting = {found.lanes.get(BEFORE, Lane.OBSERVE), found.lanes.get("read", Lane.OBSERVE)}
    for lane in sorted(waiting - {Lane.OBSERVE}):
        closed = found.closed if lane == Lane.GATE or found.strict else ""
        told = (found.socket, "opencode", lane, BEFORE, f"{found.deadline_s:g}", closed)
        command = shlex.join((found.python, "-I", "-S", found.client, *told))
        places = Path(found.python), Path(found.client), Path(found.socket)
        yield (
            Written(command, None),
            Installed(*places, "opencode", lane, BEFORE, found.deadline_s),
        )


def lanes(content: str) -> set[str]:
    """The lanes on which this plugin speaks before a call; nothing for a file that is none."""
    found = _read(content)
    return set() if found is None else {found.lanes.get(each, "") for each in (BEFORE, "read")}


def _read(content: str) -> _Setup | None:
    line = next((each for each in content.splitlines() if each.startswith(_WRITTEN)), "")
    try:
        return decoding.decode(line.removeprefix(_WRITTEN), _Setup)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _setup(client: Client, profile: str) -> dict[str, object]:
    spoken = OpenCode()
    lanes: dict[str, str] = {}
    for entry in spoken.entries(profile):
        lanes["read" if entry.matcher else entry.event] = entry.lane
    return {
        "python": str(client.python),
        "client": str(client.script),
        "socket": str(client.ingest_socket),
        "deadline_s": client.deadline_s,
        "lanes": {"read": lanes[BEFORE]} | lanes,
        "reads": READS,
        "strict": profile == "strict",
        "passed": PASSED,
        "closed": spoken.closed(BEFORE, Lane.GATE, "@").stdout.decode(),
    }
