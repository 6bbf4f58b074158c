"""Our plugin for OpenCode and the one that checks it, with this installation's values in them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from watchgate.agents.opencode import OpenCodeAdapter
from watchgate.agents.opencode.opencode_events import BEFORE
from watchgate.agents.opencode.opencode_payload import READS
from watchgate.core.base import decoding
from watchgate.core.model.events import Lane
from watchgate.service.setup.forms.form_editor import WrittenEntry
from watchgate.service.setup.forms.guarded_command import PASSED, HookClient, InstalledCommand

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


def contents(client: HookClient, profile: str) -> bytes:
    """Returns the plugin for this client and profile; raises `ValueError` for another profile."""
    return _filled(SOURCE, _setup(client, profile))


def check(plugin: bytes, profile: str) -> bytes:
    """Returns the plugin that checks the other beside it.

    It throws on every call that the other would ask about, where that is not `plugin`.
    """
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
    """Returns whether a file is this plugin, as this or an earlier version wrote it."""
    return content.startswith(MARK.encode())


class _Setup(msgspec.Struct, frozen=True):
    """The client's values in an installed plugin."""

    python: str
    client: str
    socket: str
    deadline_s: float
    lanes: dict[str, str]
    strict: bool
    closed: str


def commands(content: str) -> Iterator[tuple[WrittenEntry, InstalledCommand]]:
    """Yields the commands that this plugin runs before a call, by lane; none for another file."""
    setup = _read(content)
    if setup is None:
        return
    waiting = {setup.lanes.get(BEFORE, Lane.OBSERVE), setup.lanes.get("read", Lane.OBSERVE)}
    for lane in sorted(waiting - {Lane.OBSERVE}):
        closed = setup.closed if lane == Lane.GATE or setup.strict else ""
        arguments = (setup.socket, "opencode", lane, BEFORE, f"{setup.deadline_s:g}", closed)
        command = shlex.join((setup.python, "-I", "-S", setup.client, *arguments))
        places = Path(setup.python), Path(setup.client), Path(setup.socket)
        yield (
            WrittenEntry(command, None),
            InstalledCommand(*places, "opencode", lane, BEFORE, setup.deadline_s),
        )


def lanes(content: str) -> set[str]:
    """Returns the lanes that this plugin uses before a call; none for another file."""
    setup = _read(content)
    return set() if setup is None else {setup.lanes.get(each, "") for each in (BEFORE, "read")}


def _read(content: str) -> _Setup | None:
    line = next((each for each in content.splitlines() if each.startswith(_WRITTEN)), "")
    try:
        return decoding.decode(line.removeprefix(_WRITTEN), _Setup)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _setup(client: HookClient, profile: str) -> dict[str, object]:
    spoken = OpenCodeAdapter()
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
