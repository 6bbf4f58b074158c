"""The files that an installation of one agent consists of, and the planned edit of each."""

from __future__ import annotations

import difflib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from watchgate.agents.base import Adapter, HookEntry, Setup
from watchgate.client_uninstall import lines_that_call
from watchgate.core.policy.rules.profiles import PROFILES
from watchgate.link.paths import Paths
from watchgate.service.setup import opencode_plugin, synaps_plugin
from watchgate.service.setup.agent_files import (
    AgentFile,
    InstallRefusal,
    Scope,
    hook_path,
    setup_of,
)
from watchgate.service.setup.forms.editor_choice import WholeFileEditor, editor_of
from watchgate.service.setup.forms.form_editor import Editor, FormHook, StatusLine, Table
from watchgate.service.setup.forms.guarded_command import (
    HookClient,
    denies_on_failure,
    hook_command,
    status_line_command,
)


class HookFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file: its path, its editor, and our entries as they are to be."""

    path: Path
    editor: Editor
    table: Table
    executable: bool = False


class HookInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of the entries: the client they run, and the profile they are for."""

    client: HookClient
    profile: str
    places: Paths
    status_line: StatusLine = "keep"


def _synaps(wanted: HookInputs) -> Mapping[str, bytes]:
    return synaps_plugin.synaps_contents(wanted.places, wanted.profile, wanted.client.python)


def _opencode(wanted: HookInputs) -> Mapping[str, bytes]:
    plugin = opencode_plugin.contents(wanted.client, wanted.profile)
    check_name = f"../{opencode_plugin.CHECK_NAME}"
    return {"": plugin, check_name: opencode_plugin.check(plugin, wanted.profile)}


PLUGINS: Final[dict[str, Callable[[HookInputs], Mapping[str, bytes]]]] = {
    "opencode": _opencode,
    "synaps": _synaps,
}
"""The files of each plugin by their names in its folder; without a name, the folder is the file.

A name may begin with `../`, for what lies beside that.
"""


def hook_files(
    agent: Adapter, scope: Scope, wanted: HookInputs, env: Mapping[str, str], cwd: Path
) -> tuple[HookFile, ...]:
    """Returns the files of one agent; raises `InstallRefusal` where it cannot be installed so.

    Args:
        agent: The agent.
        scope: For the user, or for a project.
        wanted: What the entries are made of.
        env: The environment in which agents' settings are looked up.
        cwd: The project's folder.
    """
    setup, path = setup_of(agent), hook_path(agent, scope, env, cwd)
    if setup.form == "plugin":
        return _plugin(agent, path, wanted)
    if setup.form == "scripts":
        return _scripts(agent, setup, path, wanted)
    line = status_line_command(agent, wanted.client) if setup.status_line else ""
    edits = editor_of(setup, status_line=line, wish=wanted.status_line)
    table = edits.table(profile_hooks(agent, wanted.client, wanted.profile))
    return (HookFile(path=path, editor=edits, table=table), *_manifests(setup, path))


def profile_hooks(agent: Adapter, client: HookClient, profile: str) -> tuple[FormHook, ...]:
    """Returns the entries of a profile, whatever their form."""
    return tuple(_hook(agent, entry, client, profile) for entry in agent.entries(profile))


def _hook(agent: Adapter, entry: HookEntry, client: HookClient, profile: str) -> FormHook:
    return FormHook(
        event=entry.event,
        command=hook_command(agent, entry, client, profile),
        timeout_s=entry.timeout_s,
        matcher=entry.matcher,
        status=entry.status_message,
        closes=denies_on_failure(entry, profile),
    )


def _scripts(
    agent: Adapter, setup: Setup, folder: Path, wanted: HookInputs
) -> tuple[HookFile, ...]:
    """Returns one script for each event; those outside this profile are there to be removed."""
    wanted_hooks = {
        hook.event: hook for hook in profile_hooks(agent, wanted.client, wanted.profile)
    }
    names = dict.fromkeys(each.event for name in PROFILES for each in agent.entries(name))
    edits = {name: editor_of(setup, event=name) for name in names}
    return tuple(
        HookFile(
            path=folder / name,
            editor=edits[name],
            table=edits[name].table([wanted_hooks[name]]) if name in wanted_hooks else {},
            executable=True,
        )
        for name in names
    )


def _manifests(setup: Setup, path: Path) -> Iterator[HookFile]:
    for name, value in setup.manifests.items():
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        whole = WholeFileEditor(text)
        yield HookFile(path=_below(path.parent, name), editor=whole, table=whole.table(()))


def _plugin(agent: Adapter, folder: Path, wanted: HookInputs) -> tuple[HookFile, ...]:
    contents = PLUGINS.get(agent.name)
    if contents is None:
        raise InstallRefusal(f"there is no plugin of watchgate for {agent.title}")
    whole = {name: WholeFileEditor(content.decode()) for name, content in contents(wanted).items()}
    return tuple(
        HookFile(path=_below(folder, name), editor=edits, table=edits.table(()))
        for name, edits in whole.items()
    )


def _below(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """The edit of one file: `after` None means that it is to be deleted, or stays away.

    `restored` says that it is exactly what was there before the installation. `displaced` are
    events whose other entries move up. `status_line` says whose the file has before, "" without.
    """

    agent: Adapter
    part: HookFile
    file: AgentFile
    after: bytes | None
    restored: bool = False
    displaced: tuple[str, ...] = ()
    status_line: Literal["", "ours", "theirs"] = ""

    @property
    def path(self) -> Path:
        """Returns the file behind all links."""
        return self.file.path

    @property
    def needed(self) -> bool:
        """Returns whether anything is to be written at all."""
        return self.after != self.file.content

    @property
    def left(self) -> str:
        """Returns the lines that still run the hook client afterwards: somebody changed them."""
        return lines_that_call(self._text_after)

    def sizes(self) -> tuple[int, int]:
        """Returns the numbers of lines that it adds and takes away."""
        lines = self.diff_lines()[2:]
        return sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines)

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        return "".join(f"{line}\n" for line in self.diff_lines())

    def diff_lines(self) -> list[str]:
        """Returns the lines of the diff; one without an end is followed by a note of that."""
        name = str(self.path)
        old, new = _lines(self.file.text), _lines(self._text_after)
        diff = "".join(map(_ended, difflib.unified_diff(old, new, name, name)))
        return [line.removesuffix("\n") for line in _lines(diff)]

    @property
    def _text_after(self) -> str:
        return (self.after or b"").decode("utf-8-sig")


def _lines(text: str) -> list[str]:
    """Returns the lines of a text as other tools see them, each with its end."""
    return list(io.StringIO(text, newline="\n"))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
