"""An agent's hook entries: are they all there, of this version, and nested in time?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from watchgate.agents.registry import adapter
from watchgate.link.paths import Paths
from watchgate.service.setup import client_copy, files, hooks_file
from watchgate.service.setup.command import Installed, parse
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.hooks_file import Group
from watchgate.service.setup.interpreter import probe
from watchgate.service.setup.json_scan import JsonError
from watchgate.service.setup.targets import Refusal

Table = dict[str, list[Group]]


def read_entries(agent: str, path: Path) -> Table | Check:
    """Our entries in a file, or why they cannot be read."""
    try:
        return hooks_file.ours(files.read(path).text)
    except (Refusal, JsonError) as error:
        return Check(f"{agent}: hooks", "fail", f"{path}: {error}", "mend the file by hand")


def check_entries(agent: str, path: Path, found: Table, wanted: Table) -> Check:
    """Whether exactly the wanted entries are there."""
    name = f"{agent}: hooks"
    install = f"watchgate install {agent}"
    missing = [event for event in wanted if event not in found]
    if missing:
        return Check(name, "fail", f"{path} lacks {', '.join(missing)}", install)
    other = [event for event in found if found[event] != wanted.get(event)]
    if other:
        text = f"{path} differs from this version and profile in {', '.join(other)}"
        return Check(name, "fail", text, install)
    return Check(name, "ok", f"{sum(map(len, found.values()))} entries in {path} are up to date")


def trusted(found: Table, wanted: Table) -> Table:
    """The entries that are exactly as we would write them, the only ones that may be run.

    Anybody can put a command that looks like ours into a project's settings.
    """
    same = {
        event: [each for each in groups if each in wanted.get(event, [])]
        for event, groups in found.items()
    }
    return {event: groups for event, groups in same.items() if groups}


def check_deadlines(agent: str, found: Table, margin_s: float) -> Check:
    """Whether the client gives up first: a hook that outlasts the agent lets the tool run."""
    name = f"{agent}: deadlines"
    late = [
        installed.event
        for hook, installed in commands(found)
        if installed.lane != "observe" and installed.deadline_s + margin_s > hook["timeout"]
    ]
    if late:
        text = f"{adapter(agent).title} gives up before the client does: {', '.join(late)}"
        return Check(name, "fail", text, f"watchgate install {agent}")
    return Check(name, "ok", f"the client answers before {adapter(agent).title} gives up")


def check_client(agent: str, found: Table, places: Paths) -> Iterator[Check]:
    """Whether what these entries start is there, is what this version ships, and starts fast."""
    install = f"watchgate install {agent}"
    for python in sorted({installed.python for _, installed in commands(found)}):
        copy = _check_copy(f"{agent}: client", places, install)
        yield copy
        runs = _check_python(f"{agent}: interpreter", python, install)
        yield runs
        if copy.status == "ok" and runs.status != "fail":
            yield _check_bytecode(f"{agent}: bytecode", places, python)


def commands(found: Table) -> Iterator[tuple[dict[str, Any], Installed]]:
    """Each hook of ours with the parts of its command."""
    for groups in found.values():
        for group in groups:
            for hook in group["hooks"]:
                installed = parse(hook["command"])
                if installed is not None:
                    yield hook, installed


def _check_copy(name: str, places: Paths, install: str) -> Check:
    for path, content in client_copy.packaged(places).items():
        try:
            present = path.read_bytes()
        except OSError as error:
            return Check(name, "fail", f"{path}: {error.strerror}", install)
        if present != content:
            return Check(name, "fail", f"{path} is of another version", install)
    text = f"{places.client} and {places.client_module.name} are the client of this version"
    return Check(name, "ok", text)


def _check_bytecode(name: str, places: Paths, python: Path) -> Check:
    cache = client_copy.bytecode_directory(places)
    if client_copy.renew_bytecode(places, python):
        return Check(name, "ok", f"{python} finds the client compiled, anew just now, in {cache}")
    text = f"{python} cannot cache bytecode in {cache}: each hook compiles the client and is slower"
    return Check(name, "warn", text, f"give yourself the right to write to {cache}")


def _check_python(name: str, path: Path, install: str) -> Check:
    found = probe(path)
    if found is None:
        text = f"{path} does not run, is older than 3.8, or is a virtual environment's"
        return Check(name, "fail", text, install)
    if found != path:
        return Check(name, "warn", f"{path} is a shim for {found}", install)
    return Check(name, "ok", f"{path} runs")
