"""The changes of `install` and `uninstall` to each file: a line in words, then a diff.

The command of a hook is a long line that stands in every entry. A diff for a person names it by
its lane and event; each of its forms is written out once, above the diff.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.install_words import contents
from watchgate.cli.output import json_line, say
from watchgate.core.amounts import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from watchgate.agents.base import Adapter
    from watchgate.service.setup.change import Change

_QUOTED = re.compile(r'"(/bin/sh -c (?:[^"\\]|\\.)*)"')
_BARE = re.compile(r"(?<=exec )(/bin/sh -c .*)$")
_MOST_LINES_OF_CODE = 40
"""A plugin is a program of its own, which nobody reads in a terminal."""


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add the flags that show and change nothing."""
    parser.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")
    parser.add_argument(
        "--json", action="store_true", help="with --dry-run: one JSON object a file, diffs in full"
    )


def check_json(args: argparse.Namespace) -> None:
    """End the command where JSON is asked of one that writes."""
    if args.json and not args.dry_run:
        raise Stop("--json goes with --dry-run", Exit.USAGE)


def show(
    agent: Adapter, changes: Sequence[Change], *, as_json: bool, installs: bool = False
) -> None:
    """Print what would become of these files; `installs` says that they are to get hooks."""
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
    """Print as JSON what would become of files of ours that belong to no agent."""
    for path in paths:
        removed = {"needed": True, "removes": True, "events": [], "diff": ""}
        json_line({"agent": "", "path": str(path), **removed})


def _fields(agent: Adapter, change: Change) -> dict[str, Any]:
    return {
        "agent": agent.name,
        "path": str(change.path),
        "needed": change.needed,
        "removes": change.needed and change.after is None,
        "events": [event for event in change.part.table if event],
        "diff": change.diff(),
    }


def _summary(change: Change, contents: str) -> str:
    if not change.needed:
        return f"nothing to change in {change.path}"
    added, taken = change.sizes()
    size = f"{plural(added, 'line')} more, {plural(taken, 'line')} less"
    verb = "would be written" if change.file.content is None else "would be changed"
    verb = "would be removed" if change.after is None else verb
    return f"{change.path} {verb}: {contents}{size}"


def _show_diff(change: Change, written_out: set[str]) -> None:
    diff = [line.removesuffix("\r") for line in change.diff_lines()]
    if "" in change.part.table and len(diff) > _MOST_LINES_OF_CODE:
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
            name = _named(str(json.loads(match.group())), forms)
        except ValueError:
            name = ""  # somebody else's text of TOML, whose escapes and tabs JSON does not have
        return f'"{name}"' if name else match.group()

    def bare(match: re.Match[str]) -> str:
        return _named(match.group(), forms) or match.group()

    return _BARE.sub(bare, _QUOTED.sub(quoted, line))


def _named(command: str, forms: dict[str, str]) -> str:
    from watchgate.service.setup.command import is_ours, parse

    installed = parse(command) if is_ours(command) else None
    if installed is None:
        return ""
    name = f"<{installed.lane} hook of {installed.agent} for {installed.event}>"
    while forms.setdefault(name, command) != command:
        name = f"<other {name[1:]}"  # before and after a change
    return name
