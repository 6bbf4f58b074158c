"""Our plugin for SynapsCLI: a folder of our own among its plugins, with the extension in it.

SynapsCLI loads every folder of `~/.synaps-cli/plugins` that holds `.synaps-plugin/plugin.json`, so
nothing of the user's is edited: installing writes the folder, uninstalling removes it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import msgspec

from watchgate import __version__
from watchgate.agents.registry import adapter
from watchgate.agents.synaps import BEFORE, EVENTS, NAME
from watchgate.core.permissions import needed
from watchgate.link.paths import Paths
from watchgate.service.setup import files
from watchgate.service.setup.targets import Refusal

PLUGIN = "watchgate"
SCRIPT = "watchgate_synaps.py"


def folder(env: Mapping[str, str]) -> Path:
    """Where SynapsCLI looks for our plugin, for this user."""
    home = env.get("HOME")
    return (Path(home) if home else Path.home()) / ".synaps-cli" / "plugins" / PLUGIN


def contents(places: Paths, profile: str, python: Path) -> dict[str, bytes]:
    """The files of the plugin by their names in the folder, the one that makes it load last."""
    package = resources.files("watchgate")
    return {
        "watchgate_client.py": package.joinpath("client.py").read_bytes(),
        SCRIPT: package.joinpath("synaps_extension.py").read_bytes(),
        ".synaps-plugin/plugin.json": _plugin(places, profile, python),
    }


def install(env: Mapping[str, str], places: Paths, profile: str, python: Path) -> Path:
    """Write the plugin, or bring it up to date; raises `Refusal` for a folder of somebody else."""
    target = folder(env)
    check_ours(target)
    for name, content in contents(places, profile, python).items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(path, content)
    return target


def uninstall(env: Mapping[str, str]) -> bool:
    """Remove the plugin; False when there was none. Raises `Refusal` as `install` does."""
    target = folder(env)
    if not target.exists():
        return False
    check_ours(target)
    shutil.rmtree(target)
    return True


def check_ours(target: Path) -> None:
    """Raise `Refusal` unless the folder is not there yet or was written by us."""
    if target.is_symlink() or (target.exists() and not (target / SCRIPT).is_file()):
        raise Refusal(f"{target} is not a plugin that watchgate wrote: move it away and try again")


def _plugin(places: Paths, profile: str, python: Path) -> bytes:
    entries = adapter(NAME).entries(profile)
    lane = next(entry.lane for entry in entries if entry.event == BEFORE)
    permissions = sorted({needed(EVENTS[entry.event][0]) for entry in entries})
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
