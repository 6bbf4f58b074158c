"""Our entries in an agent's table of hooks: put in, brought up to date, taken out.

The table is `hooks.<Event>[]` of groups `{matcher?, hooks: [{type, command, timeout, ...}]}`, as
Claude Code and Codex read it. Other tools' entries are never touched nor moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from watchgate.agents.base import HookEntry
from watchgate.service.setup import json_edit
from watchgate.service.setup.command import is_ours
from watchgate.service.setup.json_edit import Splice
from watchgate.service.setup.json_scan import JsonError, Node, scan

Group = dict[str, Any]
Table = Mapping[str, Sequence[Group]]


def group(entry: HookEntry, command: str) -> Group:
    """What is written for one entry."""
    hook: Group = {"type": "command", "command": command, "timeout": entry.timeout_s}
    if entry.status_message is not None:
        hook["statusMessage"] = entry.status_message
    matcher = {} if entry.matcher is None else {"matcher": entry.matcher}
    return {**matcher, "hooks": [hook]}


def ours(text: str) -> dict[str, list[Group]]:
    """Our groups in a file, by event; raises `JsonError`."""
    if not text.strip():
        return {}
    hooks = _hooks(text, scan(text))
    found: dict[str, list[Group]] = {}
    for member in hooks.members if hooks else ():
        groups = [member.value.items[at].load(text) for at in _our_groups(text, member.value)]
        if groups:
            found[member.key] = groups
    return found


def install(text: str, table: Table) -> str:
    """The file's text with exactly these groups of ours; the same text when it has them already."""
    if not text.strip():
        text = "{}\n"
    text = _without(text, {event for event in ours(text) if event not in table})
    text = _brought_up_to_date(text, table)
    missing = {event: groups for event, groups in table.items() if event not in ours(text)}
    return _with(text, missing) if missing else text


def uninstall(text: str) -> str:
    """The file's text without any entry of ours; what they leave empty goes too."""
    return _without(text, set(ours(text)) | _mixed(text)) if text.strip() else text


def displaced(text: str) -> tuple[str, ...]:
    """Events where another tool's group stands behind one of ours and would move up without it."""
    if not text.strip():
        return ()
    hooks = _hooks(text, scan(text))
    found = []
    for member in hooks.members if hooks else ():
        mine = _our_groups(text, member.value)
        if mine and len(member.value.items) - len(mine) > mine[0]:
            found.append(member.key)
    return tuple(found)


def _brought_up_to_date(text: str, table: Table) -> str:
    """Replaces what differs in place: Codex ties its trust to an entry's position."""
    for event, groups in table.items():
        present = ours(text).get(event)
        if present is None or present == list(groups):
            continue
        if len(present) != len(groups):
            text = _without(text, {event})
            continue
        array = _array(text, event)
        text = json_edit.apply(
            text,
            [
                json_edit.replace(text, array.items[at], wanted)
                for at, had, wanted in zip(_our_groups(text, array), present, groups, strict=True)
                if had != wanted
            ],
        )
    return text


def _with(text: str, missing: Table) -> str:
    """Adds groups behind what is there: first to the arrays that exist, then new arrays."""
    root = scan(text)
    hooks = _hooks(text, root)
    if hooks is None:
        table = {event: list(groups) for event, groups in missing.items()}
        return json_edit.apply(text, [json_edit.append(text, root, [("hooks", table)])])
    splices: list[Splice] = []
    fresh: list[tuple[str | None, Any]] = []
    for event, groups in missing.items():
        array = hooks.get(event, text)
        if array is None:
            fresh.append((event, list(groups)))
        else:
            splices.append(json_edit.append(text, array, [(None, each) for each in groups]))
    if fresh:
        splices.append(json_edit.append(text, hooks, fresh))
    return json_edit.apply(text, splices)


def _without(text: str, events: set[str]) -> str:
    root = scan(text)
    hooks = _hooks(text, root)
    if hooks is None or not events:
        return text
    splices: list[Splice] = []
    emptied: list[int] = []
    for at, member in enumerate(hooks.members):
        if member.key not in events:
            continue
        mixed, doomed = _partly_ours(text, member.value), _our_groups(text, member.value)
        if len(doomed) == len(member.value.items):
            emptied.append(at)
            continue
        splices += json_edit.remove(member.value, doomed) if doomed else []
        for inner, positions in mixed:
            splices += json_edit.remove(inner, positions)
    if emptied and len(emptied) == len(hooks.members):
        place = [member.key for member in root.members].index("hooks")
        return json_edit.apply(text, json_edit.remove(root, [place]))
    return json_edit.apply(text, [*splices, *(json_edit.remove(hooks, emptied) if emptied else [])])


def _mixed(text: str) -> set[str]:
    hooks = _hooks(text, scan(text))
    members = hooks.members if hooks else ()
    return {member.key for member in members if _partly_ours(text, member.value)}


def _hooks(text: str, root: Node) -> Node | None:
    """The table; raises `JsonError` when it has another form than ours and the agents'."""
    if root.type != "object":
        raise JsonError(text, root.start, "the file does not hold a JSON object")
    hooks = root.get("hooks", text)
    if hooks is None:
        return None
    if hooks.type != "object":
        raise JsonError(text, hooks.start, '"hooks" is not an object')
    for member in hooks.members:
        hooks.get(member.key, text)
        if member.value.type != "array":
            raise JsonError(text, member.start, f'"hooks.{member.key}" is not an array')
    return hooks


def _array(text: str, event: str) -> Node:
    hooks = _hooks(text, scan(text))
    array = hooks.get(event, text) if hooks else None
    if array is None:
        raise KeyError(event)
    return array


def _our_groups(text: str, array: Node) -> list[int]:
    """Positions of the groups that hold nothing but hooks of ours."""
    return [at for at, item in enumerate(array.items) if _owned(text, item) == "all"]


def _partly_ours(text: str, array: Node) -> list[tuple[Node, list[int]]]:
    """Groups that somebody merged: their list of hooks, and the positions that are ours."""
    found = []
    for item in array.items:
        inner = item.get("hooks", text)
        if inner is not None and _owned(text, item) == "some":
            found.append(
                (inner, [at for at, hook in enumerate(inner.items) if _is_ours(hook, text)])
            )
    return found


def _owned(text: str, item: Node) -> str:
    inner = item.get("hooks", text)
    mine = [_is_ours(hook, text) for hook in inner.items] if inner else []
    if not any(mine):
        return "none"
    return "all" if all(mine) else "some"


def _is_ours(hook: Node, text: str) -> bool:
    command = hook.get("command", text)
    return command is not None and is_ours(command.load(text))
