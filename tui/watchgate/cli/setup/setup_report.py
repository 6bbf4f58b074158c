"""The changes of `install` and `uninstall` to each file: a line in words, then a diff.

The command of a hook is a long line that stands in every entry. A diff for a person names it by
its lane and event; each of its forms is written out once, above the diff.

- The lines that `install` ends with: what it did, how to undo it, what happens next.
- The checks of `doctor`, in groups and summed up.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.core.base.amounts import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from watchgate.agents.base import Adapter
    from watchgate.service.setup.hook_checks import Check
    from watchgate.service.setup.hook_files import FileChange


_NAMED_SESSIONS = 3
_NAMED_FILES = 2
_NAMED_FAULTS = 4


def installed_lines(
    agent: Adapter, changes: Sequence[FileChange], backups: Sequence[Path], scope: str
) -> list[str]:
    """Says what was done to the files of one agent, and how to undo it by the `backups`."""
    made = [change for change in changes if change.after is not None]
    done = [change for change in made if change.needed]
    if not done:
        lines = [f"{agent.name}: hooks are up to date in {_places(made)}"]
        return [*lines, agent.setup.after] if agent.setup and _distrusted(agent, made) else lines
    undo = f"watchgate uninstall {agent.name}{' --scope project' if scope == 'project' else ''}"
    before = f"backup: {', '.join(map(str, backups))}" if backups else "no such file was there"
    return [
        f"{agent.name}: hooks installed in {_places(done)}: {contents(made)}",
        f"  {before}; undo: `{undo}`",
        *_notes(agent),
    ]


def _distrusted(agent: Adapter, changes: Sequence[FileChange]) -> bool:
    """Tells whether the agent's files say that it skips our hooks until somebody trusts them."""
    from watchgate.service.setup.codex_trust import READS

    reads = READS.get(agent.name)
    return reads is not None and not all(reads(change.path) for change in changes)


def contents(changes: Sequence[FileChange]) -> str:
    """Names what of ours is in these files: events or a plugin, and the status line."""
    events = dict.fromkeys(event for change in changes for event in change.part.table if event)
    return (plural(len(events), "event") if events else "a plugin") + _status_line(changes)


def open_sessions(agents: Sequence[Adapter], *, taken_out: bool = False) -> list[str]:
    """Returns the lines that tell how these agents' open sessions take the change."""
    from watchgate.service.setup.running_agents import running_agents

    lines = []
    for agent in agents:
        pids = [str(each.pid) for each in running_agents([agent])]
        if agent.setup is None or not pids:
            continue
        if agent.setup.live:
            does = "let them go" if taken_out else "take them up"
            lines.append(f"Open sessions of {agent.title} {does} within seconds: {_named(pids)}.")
            continue
        keep = "keep what they started with"
        if taken_out:
            keep = "keep the hooks, which deny what acts once the hook client is gone"
        lines.append(f"Open sessions of {agent.title} {keep}; start them again: {_named(pids)}.")
    return lines


def complain_of_list(fault: str) -> None:
    """Says that the list of what was installed cannot be read, and how to mend it."""
    complain(
        f"{fault}: the list of what was installed cannot be read. `watchgate install AGENT`, of "
        "each agent that has hooks, begins it anew, and the old one is kept beside it until the "
        "last hooks go"
    )


def next_line(profile: str) -> str:
    """Returns the line that tells what the profile does now, and what it needs."""
    if profile == "watch":
        return (
            "Profile watch: tool calls are recorded, NOT GATED; `watchgate` opens the console, "
            "`watchgate guard on` gates."
        )
    return (
        f"Profile {profile}. While no core runs, every call that acts is denied: `watchgate` "
        "starts one, and opens the console."
    )


def _places(changes: Sequence[FileChange]) -> str:
    named = ", ".join(str(change.path) for change in changes[:_NAMED_FILES])
    more = len(changes) - _NAMED_FILES
    return f"{named} and {plural(more, 'more file')}" if more > 0 else named


def _status_line(changes: Sequence[FileChange]) -> str:
    """Returns the words for what became of an agent's status line; empty without one."""
    from watchgate.service.setup.agent_files import setup_of
    from watchgate.service.setup.forms import json_table

    for change in changes:
        setup = setup_of(change.agent)
        if not setup.status_line:
            continue
        text = (change.after or b"").decode("utf-8-sig")
        now = json_table.status_line_owner(text, setup)
        if change.status_line == "theirs":
            return "; your own status line stays, so cost and context are not shown from it"
        if now != change.status_line:
            return (
                ", and the status line, from which cost and context come (`--no-status-line`)"
                if now
                else "; the status line is taken out, so cost and context are not shown from it"
            )
    return ""


def _notes(agent: Adapter) -> list[str]:
    lines = []
    if agent.experimental:
        lines.append(f"{agent.title}: experimental; built from its documents, never run with it.")
    if agent.setup is not None and agent.setup.after:
        lines.append(agent.setup.after)
    return lines


def _named(pids: Sequence[str]) -> str:
    more = len(pids) - _NAMED_SESSIONS
    return f"pid {', '.join(pids[:_NAMED_SESSIONS])}{f' and {more} more' if more > 0 else ''}"


def in_groups(checks: Sequence[Check]) -> list[Check]:
    """One line for all that is well with this machine, or with an agent; all else in full.

    What is wrong with several agents in the same words is told once, with their names.
    """
    from watchgate.service.setup.hook_checks import Check

    well = Counter(each.check.rpartition(": ")[0] for each in checks if each.status == "ok")
    agents_of: dict[Check, list[str]] = {}
    for each in checks:
        agent, _, about = each.check.rpartition(": ")
        if well[agent]:
            group = Check(agent or "this machine", "ok", plural(well[agent], "check"))
            agents_of.setdefault(group, [])
        if each.status != "ok":
            alike = Check(about, each.status, each.text, each.mend)
            agents_of.setdefault(alike, []).append(agent)
    lines = []
    for each, agents in agents_of.items():
        names = ", ".join(dict.fromkeys(filter(None, agents)))
        name = f"{names}: {each.check}" if names else each.check
        lines.append(Check(name, each.status, each.text, each.mend))
    return lines


def summed_up(checks: Sequence[Check]) -> str:
    """Returns the counts of checks made and passed, and the names of those to mend."""
    wrong = list(dict.fromkeys(each.check for each in checks if each.status == "fail"))
    counts = Counter(each.status for each in checks)
    words = f"{plural(len(checks), 'check')}: {counts['ok']} ok"
    if counts["warn"]:
        words += f", {counts['warn']} to look at"
    if not wrong:
        return words
    more = f" and {len(wrong) - _NAMED_FAULTS} more" if len(wrong) > _NAMED_FAULTS else ""
    return f"{words}, {counts['fail']} to mend: {', '.join(wrong[:_NAMED_FAULTS])}{more}"


_QUOTED = re.compile(r'"(/bin/sh -c (?:[^"\\]|\\.)*)"')
_BARE = re.compile(r"(?<=exec )(/bin/sh -c .*)$")
_MAX_CODE_LINES = 40
"""A plugin is a program of its own, which nobody reads in a terminal."""


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that show and change nothing."""
    parser.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")
    parser.add_argument(
        "--json", action="store_true", help="with --dry-run: one JSON object a file, diffs in full"
    )


def check_json(args: argparse.Namespace) -> None:
    """Ends the command where JSON is asked of one that writes."""
    if args.json and not args.dry_run:
        raise Stop("--json goes with --dry-run", Exit.USAGE)


def show(
    agent: Adapter, changes: Sequence[FileChange], *, as_json: bool, installs: bool = False
) -> None:
    """Prints what would become of these files; `installs` says that they are to get hooks."""
    if as_json:
        for change in changes:
            json_line(_fields(agent, change))
        return
    written_out: set[str] = set()
    for change in changes:
        got = f"{contents([change])}, " if installs and change.needed else ""
        say(f"{agent.name}: {_summary(change, got)}")
        if change.needed:
            _show_diff(change, written_out)


def show_removed(paths: Sequence[Path]) -> None:
    """Prints as JSON what would become of files of ours that belong to no agent."""
    for path in paths:
        removed = {"needed": True, "removes": True, "events": [], "diff": ""}
        json_line({"agent": "", "path": str(path), **removed})


def _fields(agent: Adapter, change: FileChange) -> dict[str, Any]:
    return {
        "agent": agent.name,
        "path": str(change.path),
        "needed": change.needed,
        "removes": change.needed and change.after is None,
        "events": [event for event in change.part.table if event],
        "diff": change.diff(),
    }


def _summary(change: FileChange, contents: str) -> str:
    if not change.needed:
        return f"nothing to change in {change.path}"
    added, taken = change.sizes()
    size = f"{plural(added, 'line')} more, {plural(taken, 'line')} less"
    verb = "would be written" if change.file.content is None else "would be changed"
    verb = "would be removed" if change.after is None else verb
    return f"{change.path} {verb}: {contents}{size}"


def _show_diff(change: FileChange, written_out: set[str]) -> None:
    diff = [line.removesuffix("\r") for line in change.diff_lines()]
    if "" in change.part.table and len(diff) > _MAX_CODE_LINES:
        for line in diff[:2]:
            say(line)
        say(f"  {plural(len(diff), 'line')} are left out here; `--dry-run --json` has them all")
        return
    forms: dict[str, str] = {}
    lines = [_abbreviated(line, forms) for line in diff]
    fresh: dict[str, str] = {}
    for name in forms:
        lane = name.partition(" hook ")[0]
        if lane not in written_out:
            fresh.setdefault(lane, name)
    if fresh:
        say(
            "  Each <... hook of ... for ...> below stands for a command, of each lane the first is"
        )
        say("  written out here; `--dry-run --json` writes out all of them.")
    for lane, name in fresh.items():
        written_out.add(lane)
        say(f"  {name} = {forms[name]}")
    for line in lines:
        say(line)


def _abbreviated(line: str, forms: dict[str, str]) -> str:
    """The line with the command of a hook named; `forms` gets the command of each name."""

    def quoted(match: re.Match[str]) -> str:
        try:
            name = _named_change(str(json.loads(match.group())), forms)
        except ValueError:
            name = ""  # somebody else's text of TOML, whose escapes and tabs JSON does not have
        return f'"{name}"' if name else match.group()

    def bare(match: re.Match[str]) -> str:
        return _named_change(match.group(), forms) or match.group()

    return _BARE.sub(bare, _QUOTED.sub(quoted, line))


def _named_change(command: str, forms: dict[str, str]) -> str:
    from watchgate.service.setup.forms.guarded_command import is_our_command, parse_command

    installed = parse_command(command) if is_our_command(command) else None
    if installed is None:
        return ""
    name = f"<{installed.lane} hook of {installed.agent} for {installed.event}>"
    while forms.setdefault(name, command) != command:
        name = f"<other {name[1:]}"  # before and after a change
    return name
