"""Finds our hooks, by the list of what was installed and by a look at the files; renews them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.client_uninstall import lines_that_call
from watchgate.core.config.config import Config
from watchgate.link.paths import Paths
from watchgate.service.setup import agent_files, backup, hook_checks, manifest
from watchgate.service.setup.agent_files import SCOPES, InstallRefusal, Scope, setup_of
from watchgate.service.setup.forms.editor_choice import MARK
from watchgate.service.setup.forms.form_editor import FormError
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.hook_client import base_interpreter
from watchgate.service.setup.hook_files import HookFile
from watchgate.service.setup.installer import HookSettings, Installer, hook_settings
from watchgate.service.setup.manifest import InstalledFile

_NO_PYTHON = Path("python3")


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's hooks in one place, found by these variables and this folder."""

    agent: Adapter
    scope: Scope
    env: Mapping[str, str]
    cwd: Path

    def installer(self, places: Paths) -> Installer:
        """Returns the installer for the files of this place."""
        return Installer(places, self.env, self.cwd)


class LostFile(msgspec.Struct, frozen=True):
    """A file of the list, or with a backup, that nobody here can edit, and why."""

    entry: InstalledFile
    why: str


class Installations(msgspec.Struct, frozen=True):
    """Every place with hooks of ours, and files elsewhere that run the client.

    `fault` says why the list cannot be read.
    """

    places: tuple[Installation, ...]
    lost: tuple[LostFile, ...] = ()
    fault: str = ""


def installations(
    places: Paths, known: Mapping[str, Adapter], env: Mapping[str, str], cwd: Path
) -> Installations:
    """Finds every place that the list names, and the usual ones with hooks of ours."""
    installed_places: list[Installation] = []
    lost: list[LostFile] = []
    covered: set[tuple[str, str]] = set()
    listed, fault = manifest.load_or_fault(places.installed)
    for entry in listed:
        if entry.part != "hooks" or entry.key in covered:
            continue
        there = _leading_to(places, entry, known, env)
        if isinstance(there, str):
            if _names_us(Path(entry.path)):
                lost.append(LostFile(entry, there))
            continue
        installed_places.append(there)
        covered |= {(str(part.path), entry.agent) for part in _parts(places, there)}
    for usual in _usual(known, env, cwd):
        parts = _parts(places, usual)
        keys = {(str(part.path), usual.agent.name) for part in parts}
        if not keys & covered and (has_hooks(parts) or _any_calls(parts)):
            installed_places.append(usual)
            covered |= keys
    # No `resolve`, which fails where links lead in a circle.
    known_files = {Path(os.path.realpath(path)) for path, _ in covered}
    known_files |= {Path(os.path.realpath(each.entry.path)) for each in lost}
    for path in backup.backed_up(places.backups) - {places.client}:
        if path not in known_files and _calls(path, unreadable=True):
            entry = InstalledFile(part="hooks", path=str(path), digest="")
            lost.append(LostFile(entry, "no list names this file any more"))
    return Installations(tuple(installed_places), tuple(lost), fault)


def any_left(
    places: Paths, known: Mapping[str, Adapter], env: Mapping[str, str], cwd: Path
) -> bool:
    """Returns whether hooks of ours may still be anywhere, and so need the client."""
    there = installations(places, known, env, cwd)
    parts = (_parts(places, each) for each in there.places)
    return bool(there.lost) or any(
        has_hooks(each, unreadable=True) or _any_calls(each) for each in parts
    )


def agents_that_hold(
    places: Paths, known: Mapping[str, Adapter], env: Mapping[str, str], cwd: Path
) -> list[str]:
    """Returns the names of the agents with hooks of ours that hold calls, or may."""
    installed_places = installations(places, known, env, cwd).places
    return sorted({each.agent.name for each in installed_places if _may_hold(places, each)})


def _may_hold(places: Paths, place: Installation) -> bool:
    lanes: set[str] = set()
    for part in _parts(places, place):
        table = hook_checks.read_entries(place.agent, part)
        if isinstance(table, Check):
            return True
        lanes |= hook_checks.hook_lanes(place.agent, part, table)
    return bool(lanes) and hook_checks.hold_calls(lanes) is not False


def has_hooks(parts: Iterable[HookFile], *, unreadable: bool = False) -> bool:
    """Returns whether any of these files holds an entry of ours.

    One that an editor cannot read does where it names us, one that nobody can where `unreadable`.
    """
    for part in parts:
        try:
            present = agent_files.read(part.path)
        except InstallRefusal:
            if unreadable:
                return True
            continue
        content = present.content or b""
        try:
            if content and part.editor.ours(present.text):
                return True
        except (InstallRefusal, FormError):
            if MARK.encode() in content:
                return True
    return False


def _names_us(path: Path) -> bool:
    try:
        return MARK.encode() in path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _any_calls(parts: Iterable[HookFile]) -> bool:
    return any(_calls(part.path) for part in parts)


def _calls(path: Path, *, unreadable: bool = False) -> bool:
    """Returns whether anything in a file runs the client, even what somebody changed by hand."""
    try:
        return bool(lines_that_call(path.read_text("utf-8", "replace")))
    except FileNotFoundError:
        return False
    except OSError:
        return unreadable


def _leading_to(
    places: Paths, entry: InstalledFile, known: Mapping[str, Adapter], env: Mapping[str, str]
) -> Installation | str:
    """Returns the place that a file of the list belongs to, or why there is none."""
    agent = known.get(entry.agent)
    if agent is None or agent.setup is None:
        return f"no adapter is called {entry.agent} any more"
    variable = agent.setup.variable or "HOME"
    # It may have been installed with another value than there is now.
    homes = [env, *({**env, variable: str(above)} for above in Path(entry.path).parents)]
    tried = [Installation(agent=agent, scope="user", env=each, cwd=Path("/")) for each in homes]
    if entry.root:
        tried = [Installation(agent=agent, scope="project", env=env, cwd=Path(entry.root))]
    for each in tried:
        if any(str(part.path) == entry.path for part in _parts(places, each)):
            return each
    return f"{agent.title} does not keep its hooks there"


def _usual(
    known: Mapping[str, Adapter], env: Mapping[str, str], cwd: Path
) -> Iterator[Installation]:
    for agent in known.values():
        for scope in SCOPES if agent.setup is not None else ():
            yield Installation(agent=agent, scope=scope, env=env, cwd=cwd)


def _parts(places: Paths, place: Installation) -> tuple[HookFile, ...]:
    try:
        setup_of(place.agent)
        setting = HookSettings(profile="guard", client_deadline_s=1)
        return place.installer(places).parts(place.agent, place.scope, setting, _NO_PYTHON)
    except InstallRefusal:
        return ()


class Renewal(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one agent's entries: the files that changed, or why none could be."""

    agent: Adapter
    changed: tuple[Path, ...] = ()
    refused: str = ""


def renew_entries(
    places: Paths, config: Config, known: Mapping[str, Adapter], env: Mapping[str, str]
) -> tuple[Renewal, ...]:
    """Writes the entries of every installed agent for this configuration's profile.

    Agents whose hooks somebody took out by hand are left alone, and so is the status line. One
    refusal does not stop the others. Raises `NoInterpreterError`.
    """
    python = base_interpreter()
    setting = hook_settings(config, places, python)
    there = installations(places, known, env, Path.cwd())
    done = [
        Renewal(agent=known[lost.entry.agent], refused=f"{lost.entry.path}: {lost.why}")
        for lost in there.lost
        if lost.entry.agent in known
    ]
    for each in there.places:
        installer = each.installer(places)
        try:
            parts = installer.parts(each.agent, each.scope, setting, python)
            if not has_hooks(parts, unreadable=True):
                continue
            changes = installer.plan_install(each.agent, each.scope, setting, python)
            installer.install(changes, python, native=setting.native)
        except InstallRefusal as refusal:
            done.append(Renewal(agent=each.agent, refused=str(refusal)))
            continue
        changed = tuple(change.path for change in changes if change.needed)
        done.append(Renewal(agent=each.agent, changed=changed))
    return tuple(done)
