"""Our plugin for SynapsCLI: a folder of our own among its plugins, with the extension in it.

SynapsCLI loads every folder of `~/.synaps-cli/plugins` that holds `.synaps-plugin/plugin.json`, so
nothing of the user's is edited: installing writes the folder, uninstalling removes it.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import msgspec

from watchgate import __version__
from watchgate.agents.registry import adapter
from watchgate.agents.synaps import BEFORE, EVENTS, NAME
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.dispatch.handlers import permission_for
from watchgate.link.paths import Paths
from watchgate.service.setup.hook_client import with_checksum

PLUGIN = "watchgate"
SCRIPT = "watchgate_synaps.py"


def synaps_contents(places: Paths, profile: str, python: Path) -> dict[str, bytes]:
    """Returns the files of the plugin by their names, the one that makes it load last."""
    package = resources.files("watchgate")
    return {
        "watchgate_client.py": with_checksum(package.joinpath("client.py").read_bytes()),
        SCRIPT: with_checksum(package.joinpath("synaps_extension.py").read_bytes()),
        ".synaps-plugin/plugin.json": _plugin(places, profile, python),
    }


def synaps_lanes(content: str) -> set[str]:
    """Returns the lane on which this plugin speaks before a call; nothing for another file."""
    try:
        manifest = decoding.decode(content, _PluginManifest)
    except (*JSON_FAULTS, UnicodeEncodeError):
        return set()
    return set(manifest.extension.args[-1:]) if manifest.name == PLUGIN else set()


class _Extension(msgspec.Struct, frozen=True):
    args: tuple[str, ...]


class _PluginManifest(msgspec.Struct, frozen=True):
    """An installed plugin's entry about the script that it runs."""

    name: str
    extension: _Extension


def _plugin(places: Paths, profile: str, python: Path) -> bytes:
    entries = adapter(NAME).entries(profile)
    lane = next(entry.lane for entry in entries if entry.event == BEFORE)
    permissions = sorted({permission_for(EVENTS[entry.event][0]) for entry in entries})
    manifest = {
        "name": PLUGIN,
        "version": __version__,
        "description": "Shows what SynapsCLI does in Watchgate, which blocks what nobody allows.",
        "extension": {
            "protocol_version": 1,
            "runtime": "process",
            "command": str(python),
            "args": ["-I", "-S", SCRIPT, str(places.ingest_socket), str(lane)],
            "permissions": permissions,
            "hooks": [{"hook": entry.event} for entry in entries],
        },
    }
    return msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"
