"""The lines that `install` ends with: what it did, how to undo it, what happens next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.cli.output import complain
from watchgate.core.amounts import plural

if TYPE_CHECKING:
    from pathlib import Path

    from watchgate.agents.base import Adapter
    from watchgate.service.setup.change import Change

_NAMED_SESSIONS = 3
_NAMED_FILES = 2


def installed_lines(
    agent: Adapter, changes: Sequence[Change], backups: Sequence[Path], scope: str
) -> list[str]:
    """Say what was done to the files of one agent, and how to undo it by the `backups`."""
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


def _distrusted(agent: Adapter, changes: Sequence[Change]) -> bool:
    """Tell whether the agent's files say that it skips our hooks until somebody trusts them."""
    from watchgate.service.setup.trust import READS

    reads = READS.get(agent.name)
    return reads is not None and not all(reads(change.path) for change in changes)


def contents(changes: Sequence[Change]) -> str:
    """Name what of ours is in these files: events or a plugin, and the status line."""
    events = dict.fromkeys(event for change in changes for event in change.part.table if event)
    return (plural(len(events), "event") if events else "a plugin") + _status_line(changes)


def open_sessions(agents: Sequence[Adapter], *, taken_out: bool = False) -> list[str]:
    """Return what the sessions of these agents that are open now make of the change."""
    from watchgate.service.setup.running import running

    lines = []
    for agent in agents:
        pids = [str(each.pid) for each in running([agent])]
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
    """Say that the list of what was installed cannot be read, and how to mend it."""
    complain(
        f"{fault}: the list of what was installed cannot be read. `watchgate install AGENT`, of "
        "each agent that has hooks, begins it anew, and the old one is kept beside it until the "
        "last hooks go"
    )


def next_line(profile: str) -> str:
    """Return what the profile does now, and what is needed for it."""
    if profile == "watch":
        return (
            "Profile watch: tool calls are recorded, NOT GATED; `watchgate` opens the console, "
            "`watchgate guard on` gates."
        )
    return (
        f"Profile {profile}. While no core runs, every call that acts is denied: `watchgate` "
        "starts one, and opens the console."
    )


def _places(changes: Sequence[Change]) -> str:
    named = ", ".join(str(change.path) for change in changes[:_NAMED_FILES])
    more = len(changes) - _NAMED_FILES
    return f"{named} and {plural(more, 'more file')}" if more > 0 else named


def _status_line(changes: Sequence[Change]) -> str:
    """Return what became of the status line of an agent that shows one."""
    from watchgate.service.setup.forms import json_top
    from watchgate.service.setup.targets import setup_of

    for change in changes:
        setup = setup_of(change.agent)
        if not setup.status_line:
            continue
        text = (change.after or b"").decode("utf-8-sig")
        now = json_top.status_line(text, setup)
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
