"""Checks an agent's hook entries, and the settings that could silence them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from watchgate.agents.base import Adapter, Setup, Silencers
from watchgate.core.model.agent_state import GUARD_ON, AgentState
from watchgate.core.model.events import Lane
from watchgate.service.setup import agent_files, opencode_plugin, synaps_plugin
from watchgate.service.setup.agent_files import InstallRefusal, agent_home
from watchgate.service.setup.forms import json_table
from watchgate.service.setup.forms.form_editor import FormError, Table, WrittenEntry
from watchgate.service.setup.forms.guarded_command import InstalledCommand, parse_command
from watchgate.service.setup.forms.json_edit import scan
from watchgate.service.setup.forms.json_table import JsonTable
from watchgate.service.setup.hook_files import FileChange, HookFile

Status = Literal["ok", "warn", "fail"]


class Check(msgspec.Struct, frozen=True):
    """One finding: its subject, its status, and the mend where one is needed."""

    check: str
    status: Status
    text: str
    mend: str = ""


def check_silencers(agent: Adapter, setup: Setup, env: Mapping[str, str], cwd: Path) -> list[Check]:
    """Returns one finding per settings file that silences us, or that all is well."""
    silencers = setup.silencers
    if silencers is None:
        return []
    name, own = f"{agent.name}: settings", agent_home(setup, env)
    paths = [own / each for each in silencers.home]
    paths += [cwd / each for each in silencers.project] + [Path(each) for each in silencers.system]
    checks = [check for path in paths for check in _silenced(name, path, silencers, agent, setup)]
    return checks or [Check(name, "ok", "no settings file silences hooks")]


def _silenced(
    name: str, path: Path, silencers: Silencers, agent: Adapter, setup: Setup
) -> list[Check]:
    """Returns a finding for each setting in one file that silences our hooks.

    Args:
        name: The name of the check.
        path: The settings file.
        silencers: The settings to look for.
        agent: The agent.
        setup: How the agent is set up.
    """
    try:
        text = agent_files.read(path).text
        settings = scan(text, comments=setup.comments).load(text) if text.strip() else {}
    except (InstallRefusal, FormError) as error:
        text = f"{path} cannot be read, so {agent.title} may not read it either: {error}"
        return [Check(name, "warn", text, "mend it")]
    return [
        Check(name, "fail", f'"{key}" in {path} {what}', f'take "{key}" out of it')
        for key, (value, what) in silencers.keys.items()
        if _at(settings, key) is value
    ]


def _at(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


UNREAD: Final = "unread"
_HOLDING: Final = (Lane.GATE, Lane.GATE_READ)


def read_entries(agent: Adapter, part: HookFile) -> Table | Check:
    """Returns our entries in a file, or why they cannot be read."""
    try:
        return part.editor.ours(agent_files.read(part.path).text)
    except (InstallRefusal, FormError) as error:
        text = f"{part.path}: {error}"
        return Check(f"{agent.name}: hooks", "fail", text, "mend the file by hand")


def check_all_entries(agent: Adapter, changes: Sequence[FileChange]) -> Iterator[Check]:
    """Yields what is wrong in any of an agent's files, else that all is well."""
    checks = [check_entries(agent, change) for change in changes if change.after is not None]
    wrong = [check for check in checks if check.status != "ok"]
    yield from wrong or checks[:1]


def check_entries(agent: Adapter, change: FileChange) -> Check:
    """Checks that exactly the wanted entries are there: an installation would change nothing."""
    table = change.part.editor.ours(change.file.text)
    name, install = f"{agent.name}: hooks", f"watchgate install {agent.name}"
    path, wanted = change.path, change.part.table
    missing = [event for event in wanted if event not in table]
    if missing:
        # A file that is ours as a whole has no name for its one entry.
        text = f"{path} lacks {', '.join(missing)}" if any(missing) else f"{path} is missing"
        return Check(name, "fail", text, install)
    other = [event for event in table if list(table[event]) != list(wanted.get(event, ()))]
    if elsewhere := _other_socket(change.part, table):
        mend = f"start the core with the same XDG_RUNTIME_DIR as then, or {install} with its own"
        return Check(name, "fail", f"{path}: {elsewhere}", mend)
    if other and any(other):
        text = f"{path} differs from this version and profile in {', '.join(other)}"
        return Check(name, "fail", text, install)
    if change.needed:
        return Check(name, "fail", f"{path} is not as this version writes it", install)
    count = sum(len(items) for items in table.values())
    many = "1 entry" if count == 1 else f"{count} entries"
    return Check(name, "ok", f"{many} in {path} {'is' if count == 1 else 'are'} up to date")


def _other_socket(part: HookFile, table: Table) -> str:
    """Returns the socket of the hooks, if a core here listens at another; else nothing."""
    wanted = {installed.ingest_socket for _, installed in hook_commands(part, part.table)}
    others = {installed.ingest_socket for _, installed in hook_commands(part, table)} - wanted
    if not others or not wanted:
        return ""
    here, there = min(map(str, wanted)), min(map(str, others))
    return f"hooks talk to another socket, {there}; a core of this environment listens at {here}"


def check_deadlines(
    agent: Adapter, part: HookFile, table: Table, margin_s: float, limit_s: int
) -> Iterator[Check]:
    """Checks that the client gives up first: a hook that outlasts the agent lets the tool run.

    Args:
        agent: The agent.
        part: One of its files.
        table: Our entries in that file.
        margin_s: Seconds by which the client has to be sooner than the agent.
        limit_s: The configured deadline of the client, in seconds.
    """
    name = f"{agent.name}: deadlines"
    waiting = [
        (written, installed)
        for written, installed in hook_commands(part, table)
        if installed.lane != "observe"
    ]
    late = [
        installed.event
        for written, installed in waiting
        if written.timeout_s is not None and installed.deadline_s + margin_s > written.timeout_s
    ]
    shortest_s = min((installed.deadline_s for _, installed in waiting), default=limit_s)
    if late:
        text = f"{agent.title} gives up before the client does: {', '.join(late)}"
        yield Check(name, "fail", text, f"watchgate install {agent.name}")
    elif shortest_s < limit_s:
        text = (
            f"the client answers after {shortest_s:g} s, not the configured {limit_s} s, as "
            f"{agent.title} waits no longer"
        )
        yield Check(name, "ok", text)
    elif waiting:
        yield Check(name, "ok", f"the client answers before {agent.title} gives up")


def check_order(agent: Adapter, part: HookFile) -> Iterator[Check]:
    """Reports entries of others behind ours, which would move when ours are taken out."""
    behind = part.editor.displaced(agent_files.read(part.path).text)
    if behind:
        text = f"hooks of others stand behind ours ({', '.join(behind)}) in {part.path}"
        yield Check(f"{agent.name}: order", "ok", f"{text}: they run all the same")


def check_switches(agent: Adapter, setup: Setup, change: FileChange) -> Iterator[Check]:
    """Checks the switches at the top of the agent's file that its hooks need."""
    if not setup.extra or not isinstance(change.part.editor, JsonTable):
        return
    name, path = f"{agent.name}: switches", change.path
    unset = json_table.missing_switches(change.file.text, setup) if change.file.text.strip() else ()
    if unset:
        wanted = ", ".join(f'"{key}": {json.dumps(setup.extra[key])}' for key in unset)
        yield Check(name, "fail", f"{path} does not say {wanted}", "write it there")
    else:
        yield Check(name, "ok", f"{', '.join(setup.extra)} in {path} is as it has to be")


def written_as_ours(table: Table, wanted: Table) -> Table:
    """Returns the entries exactly as we would write them, the only ones that may be run.

    Anybody can put a command that looks like ours into a project's settings.
    """
    same = {
        event: [each for each in items if each in wanted.get(event, ())]
        for event, items in table.items()
    }
    return {event: items for event, items in same.items() if items}


def hook_lanes(agent: Adapter, part: HookFile, table: Table) -> set[str]:
    """Returns the lanes of our entries in a file, at the events where a call can be held.

    `UNREAD` stands for that of an entry in the form of another version.
    """
    events = {each.event for each in agent.entries("guard") if each.lane in _HOLDING}
    known: set[str] = set()
    for written in part.editor.written(table):
        installed = parse_command(written.command)
        if installed is None:
            known.add(UNREAD)
        elif installed.event in events:
            known.add(installed.lane)
    for item in table.get("", ()):
        if isinstance(text := item.get("text"), str):
            known |= opencode_plugin.lanes(text) | synaps_plugin.synaps_lanes(text)
    return known


def hold_calls(lanes: Collection[str]) -> bool | None:
    """Returns whether entries of these lanes hold calls; None where that is not known."""
    if any(each in lanes for each in _HOLDING):
        return True
    return None if UNREAD in lanes or not lanes else False


def check_gated(agent: Adapter, state: AgentState) -> Check | None:
    """Checks that hooks and profile agree on holding calls; None where that is unknown."""
    name, watches = f"{agent.name}: gate", "hooks only watch"
    if state.at_odds and state.holds:
        text = f"hooks wait for the core, which holds no call under profile {state.profile}"
        return Check(name, "fail", text, GUARD_ON)
    if state.at_odds:
        text = f"{watches}, while profile {state.profile} is in force: no call is held"
        return Check(name, "fail", text, GUARD_ON)
    if state.holds is False:
        return Check(name, "ok", f"{watches}, as profile {state.profile} has it: no call is held")
    if state.ungated:
        return None
    return Check(name, "ok", f"calls wait for the core, as profile {state.profile} has it")


def hook_commands(part: HookFile, table: Table) -> Iterator[tuple[WrittenEntry, InstalledCommand]]:
    """Yields each entry of ours with the parts of its command, and what a plugin of ours runs."""
    for written in part.editor.written(table):
        installed = parse_command(written.command)
        if installed is not None:
            yield written, installed
    for item in table.get("", ()):
        if isinstance(text := item.get("text"), str):
            yield from opencode_plugin.commands(text)
