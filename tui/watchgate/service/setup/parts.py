"""The files that an installation of one agent consists of, and the planned edit of each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from watchgate.agents.base import Adapter, HookEntry, Setup
from watchgate.core.policy.profiles import PROFILES
from watchgate.link.paths import Paths
from watchgate.service.opencode import plugin as opencode_plugin
from watchgate.service.setup import synaps_plugin
from watchgate.service.setup.command import Client, closes, command, status_line
from watchgate.service.setup.forms.editor import Editor, Hook, StatusLine, Table
from watchgate.service.setup.forms.known import editor
from watchgate.service.setup.forms.whole_file import WholeFile
from watchgate.service.setup.targets import Refusal, Scope, place, setup_of


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file: its path, its editor, and our entries as they are to be."""

    path: Path
    editor: Editor
    table: Table
    executable: bool = False


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of the entries: the client they run, and the profile they are for."""

    client: Client
    profile: str
    places: Paths
    status_line: StatusLine = "keep"


def _synaps(wanted: Wanted) -> Mapping[str, bytes]:
    return synaps_plugin.contents(wanted.places, wanted.profile, wanted.client.python)


def _opencode(wanted: Wanted) -> Mapping[str, bytes]:
    plugin = opencode_plugin.contents(wanted.client, wanted.profile)
    check_name = f"../{opencode_plugin.CHECK_NAME}"
    return {"": plugin, check_name: opencode_plugin.check(plugin, wanted.profile)}


PLUGINS: Final[dict[str, Callable[[Wanted], Mapping[str, bytes]]]] = {
    "opencode": _opencode,
    "synaps": _synaps,
}
"""The files of each plugin by their names in its folder; without a name, the folder is the file.

A name may begin with `../`, for what lies beside that.
"""


def parts(
    agent: Adapter, scope: Scope, wanted: Wanted, env: Mapping[str, str], cwd: Path
) -> tuple[Part, ...]:
    """Returns the files of one agent; raises `Refusal` where it cannot be installed so.

    Args:
        agent: The agent.
        scope: For the user, or for a project.
        wanted: What the entries are made of.
        env: The environment in which agents' settings are looked up.
        cwd: The project's folder.
    """
    setup, path = setup_of(agent), place(agent, scope, env, cwd)
    if setup.form == "plugin":
        return _plugin(agent, path, wanted)
    if setup.form == "scripts":
        return _scripts(agent, setup, path, wanted)
    line = status_line(agent, wanted.client) if setup.status_line else ""
    edits = editor(setup, status_line=line, wish=wanted.status_line)
    table = edits.table(hooks(agent, wanted.client, wanted.profile))
    return (Part(path=path, editor=edits, table=table), *_manifests(setup, path))


def hooks(agent: Adapter, client: Client, profile: str) -> tuple[Hook, ...]:
    """Returns the entries of a profile, whatever their form."""
    return tuple(_hook(agent, entry, client, profile) for entry in agent.entries(profile))


def _hook(agent: Adapter, entry: HookEntry, client: Client, profile: str) -> Hook:
    return Hook(
        event=entry.event,
        command=command(agent, entry, client, profile),
        timeout_s=entry.timeout_s,
        matcher=entry.matcher,
        status=entry.status_message,
        closes=closes(entry, profile),
    )


def _scripts(agent: Adapter, setup: Setup, folder: Path, wanted: Wanted) -> tuple[Part, ...]:
    """Returns one script for each event; those outside this profile are there to be removed."""
    wanted_hooks = {hook.event: hook for hook in hooks(agent, wanted.client, wanted.profile)}
    names = dict.fromkeys(each.event for name in PROFILES for each in agent.entries(name))
    edits = {name: editor(setup, event=name) for name in names}
    return tuple(
        Part(
            path=folder / name,
            editor=edits[name],
            table=edits[name].table([wanted_hooks[name]]) if name in wanted_hooks else {},
            executable=True,
        )
        for name in names
    )


def _manifests(setup: Setup, path: Path) -> Iterator[Part]:
    for name, value in setup.manifests.items():
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        whole = WholeFile(text)
        yield Part(path=_below(path.parent, name), editor=whole, table=whole.table(()))


def _plugin(agent: Adapter, folder: Path, wanted: Wanted) -> tuple[Part, ...]:
    contents = PLUGINS.get(agent.name)
    if contents is None:
        raise Refusal(f"there is no plugin of watchgate for {agent.title}")
    whole = {name: WholeFile(content.decode()) for name, content in contents(wanted).items()}
    return tuple(
        Part(path=_below(folder, name), editor=edits, table=edits.table(()))
        for name, edits in whole.items()
    )


def _below(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))
