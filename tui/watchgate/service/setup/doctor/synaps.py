"""Whether our plugin for SynapsCLI is there, and what this version writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import synaps_plugin
from watchgate.service.setup.doctor.check import Check

NAME = "synaps: plugin"
MEND = "watchgate install synaps"


def found(env: Mapping[str, str]) -> bool:
    """Whether our plugin is there, in whatever state."""
    return synaps_plugin.folder(env).is_dir()


def check_plugin(env: Mapping[str, str], places: Paths, profile: str, python: Path) -> Check:
    """The plugin's files against what an installation would write now."""
    target = synaps_plugin.folder(env)
    wanted = synaps_plugin.contents(places, profile, python)
    present = {name for name in wanted if (target / name).is_file()}
    if not present:
        text = f"none in {target}: nothing of this agent is seen or gated"
        return Check(NAME, "fail", text, MEND)
    stale = [name for name, content in wanted.items() if _differs(target / name, content)]
    if stale:
        return Check(NAME, "fail", f"{', '.join(stale)} in {target}: not as this version", MEND)
    return Check(NAME, "ok", f"{target} is up to date")


def _differs(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() != content
    except OSError:
        return True
