"""Hooks in JSON: `hooks.<Event>[]`, of groups with a list of hooks inside or of hooks themselves.

A group is `{matcher?, hooks: [{type, command, timeout, ...}]}`. Entries of others are never touched
nor moved, and what is ours is replaced where it stands: Codex ties its trust to the position.

- Our keys at the top of a JSON file: switches the agent needs, and the status line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from watchgate.agents.base import Setup
from watchgate.service.setup.forms import json_edit
from watchgate.service.setup.forms.form_editor import (
    FormHook,
    Item,
    StatusLine,
    Table,
    WrittenEntry,
    timeout,
    timeout_s,
)
from watchgate.service.setup.forms.guarded_command import is_our_command
from watchgate.service.setup.forms.json_edit import JsonError, Node, Splice, scan


def put_top_keys(text: str, setup: Setup, status_line: str = "", wish: StatusLine = "set") -> str:
    """Returns the text with our keys; what the user wrote under the same keys stays."""
    if wish == "remove":
        text = take_top_keys(text, setup, "")
    root = _root(text, setup)
    new: list[tuple[str | None, Any]] = [
        (key, value) for key, value in setup.extra.items() if root.get(key, text) is None
    ]
    splices = []
    shown = root.get(setup.status_line, text) if setup.status_line else None
    wanted = {"type": "command", "command": status_line}
    if setup.status_line and status_line:
        if shown is None and wish == "set":
            new.append((setup.status_line, wanted))
        elif shown is not None and _is_ours(shown, text) and shown.load(text) != wanted:
            splices.append(json_edit.replace(text, shown, wanted))
    if new:
        splices += json_edit.append(text, root, new)
    return json_edit.apply(text, splices)


def take_top_keys(text: str, setup: Setup, before: str) -> str:
    """Returns the text without our status line, and without our switches that nobody changed."""
    root = _root(text, setup)
    had = _keys(before, setup)
    doomed = [
        at
        for at, member in enumerate(root.members)
        if (member.key == setup.status_line and _is_ours(member.value, text))
        or (
            had is not None
            and member.key not in had
            and member.key in setup.extra
            and member.value.load(text) == setup.extra[member.key]
        )
    ]
    return json_edit.apply(text, json_edit.remove(text, root, doomed)) if doomed else text


def status_line_owner(text: str, setup: Setup) -> Literal["", "ours", "theirs"]:
    """Returns the owner of the file's status line: "ours", "theirs" or, without one, ""."""
    if not setup.status_line or not text.strip():
        return ""
    shown = _root(text, setup).get(setup.status_line, text)
    if shown is None:
        return ""
    return "ours" if _is_ours(shown, text) else "theirs"


def is_only_ours(text: str, setup: Setup) -> bool:
    """Returns whether nothing is left in a text but switches of ours, and no comment either."""
    if setup.form in ("kimi", "scripts", "plugin"):
        return False
    root = _root(text, setup)
    return json_edit.is_bare(text, root) and all(
        member.key in setup.extra and member.value.load(text) == setup.extra[member.key]
        for member in root.members
    )


def missing_switches(text: str, setup: Setup) -> tuple[str, ...]:
    """Returns the switches that are missing or have another value than the agent's hooks need."""
    root = _root(text, setup)
    nodes = {key: root.get(key, text) for key in setup.extra}
    return tuple(
        key for key, node in nodes.items() if node is None or node.load(text) != setup.extra[key]
    )


def _root(text: str, setup: Setup) -> Node:
    root = scan(text, comments=setup.comments)
    if root.type != "object":
        raise JsonError(text, root.start, "the file does not hold a JSON object")
    return root


def _keys(text: str, setup: Setup) -> set[str] | None:
    """Returns the keys at the top of a text; None where nothing is known of it."""
    try:
        return {member.key for member in _root(text, setup).members} if text.strip() else None
    except JsonError:
        return None


def _is_ours(shown: Node, text: str) -> bool:
    command = shown.get("command", text)
    return command is not None and is_our_command(command.load(text))


HOOKS: Final = "hooks"
_TYPED: Final = ("groups", "copilot")
_COMMAND_KEYS: Final = {"copilot": "bash"}


class JsonTable:
    """The editor for one agent's JSON file."""

    def __init__(self, setup: Setup, status_line: str = "", wish: StatusLine = "set") -> None:
        self._setup = setup
        self._status_line = status_line
        self._wish = wish
        self._nested = setup.form == "groups"
        self._command = _COMMAND_KEYS.get(setup.form, "command")

    def table(self, hooks: Sequence[FormHook]) -> Table:
        """Returns these entries as they are written."""
        table: dict[str, list[Item]] = {}
        for hook in hooks:
            table.setdefault(hook.event, []).append(self._item(hook))
        return table

    def ours(self, text: str) -> Table:
        """Returns our entries in a text, by event."""
        return self._ours(text)

    def ours_alone(self, text: str) -> Table:
        """Returns our entries by event; groups that others share have only our hooks in them."""
        entries: dict[str, list[Item]] = {}
        for member in self._members(text):
            for item in member.value.items:
                owned = self._owned(text, item)
                if owned == "none":
                    continue
                entry = item.load(text)
                if owned == "some":
                    inner = item.get(HOOKS, text)
                    entry[HOOKS] = [
                        hook.load(text) for hook in inner.items if self._is_ours(hook, text)
                    ]
                entries.setdefault(member.key, []).append(entry)
        return entries

    def install(self, text: str, table: Table) -> str:
        """Returns the text with exactly these entries of ours, and the switches they need."""
        if not text.strip():
            text = "{}\n"
        text = put_top_keys(text, self._setup, self._status_line, self._wish)
        text = self._without(text, {event for event in self._ours(text) if event not in table})
        text = self._brought_up_to_date(text, table)
        present = self._ours(text)
        missing = {event: items for event, items in table.items() if event not in present}
        return self._with(text, missing) if missing else text

    def uninstall(self, text: str, before: str = "") -> str:
        """Returns the text without our entries; containers that `before` had stay."""
        if not text.strip():
            return text
        had = self._events(before)
        text = self._without(text, set(self._ours(text)) | self._mixed(text), had)
        return take_top_keys(text, self._setup, before)

    def displaced(self, text: str) -> tuple[str, ...]:
        """Returns events where another tool's entry is behind one of ours."""
        if not text.strip():
            return ()
        events = []
        for member in self._members(text):
            mine = self._our_items(text, member.value)
            if mine and len(member.value.items) - len(mine) > mine[0]:
                events.append(member.key)
        return tuple(events)

    def written(self, table: Table) -> Iterator[WrittenEntry]:
        """Yields each entry's command and limit."""
        for item in (each for items in table.values() for each in items):
            for hook in item[HOOKS] if self._nested else (item,):
                yield WrittenEntry(hook[self._command], timeout_s(self._setup, hook))

    def _item(self, hook: FormHook) -> Item:
        setup = self._setup
        inner: Item = {
            **({"type": "command"} if setup.form in _TYPED else {}),
            **setup.each,
            self._command: hook.command,
            **timeout(setup, hook.timeout_s),
            **({setup.status_key: hook.status} if setup.status_key and hook.status else {}),
            **(setup.closing if hook.closes else {}),
        }
        matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
        return {**matcher, HOOKS: [inner]} if self._nested else {**matcher, **inner}

    def _scan(self, text: str) -> Node:
        return scan(text, comments=self._setup.comments)

    def _ours(self, text: str) -> dict[str, list[Item]]:
        entries = {}
        for member in self._members(text):
            mine = self._our_items(text, member.value)
            if mine:
                entries[member.key] = [member.value.items[at].load(text) for at in mine]
        return entries

    def _events(self, text: str) -> set[str] | None:
        """Returns the events that a text has; None where it has no table."""
        try:
            hooks = self._hooks(text, self._scan(text)) if text.strip() else None
        except JsonError:
            return None
        return None if hooks is None else {member.key for member in hooks.members}

    def _brought_up_to_date(self, text: str, table: Table) -> str:
        for event, items in table.items():
            present = self._ours(text).get(event)
            if present is None or present == list(items):
                continue
            if len(present) != len(items):
                text = self._without(text, {event})
                continue
            array = next(each.value for each in self._members(text) if each.key == event)
            places = self._our_items(text, array)
            splices = [
                json_edit.replace(text, array.items[at], wanted)
                for at, had, wanted in zip(places, present, items, strict=True)
                if had != wanted
            ]
            text = json_edit.apply(text, splices)
        return text

    def _with(self, text: str, missing: Table) -> str:
        """Adds entries behind what is there: first to the arrays that exist, then new arrays."""
        root = self._scan(text)
        hooks = self._hooks(text, root)
        if hooks is None:
            whole = {event: list(items) for event, items in missing.items()}
            return json_edit.apply(text, json_edit.append(text, root, [(HOOKS, whole)]))
        splices: list[Splice] = []
        fresh: list[tuple[str | None, Any]] = []
        for event, items in missing.items():
            array = hooks.get(event, text)
            if array is None:
                fresh.append((event, list(items)))
            else:
                splices += json_edit.append(text, array, [(None, each) for each in items])
        if fresh:
            splices += json_edit.append(text, hooks, fresh)
        return json_edit.apply(text, splices)

    def _without(self, text: str, events: set[str], had: set[str] | None = None) -> str:
        root = self._scan(text)
        hooks = self._hooks(text, root)
        if hooks is None or not events:
            return text
        splices: list[Splice] = []
        emptied: list[int] = []
        for at, member in enumerate(hooks.members):
            if member.key not in events:
                continue
            doomed = self._our_items(text, member.value)
            if len(doomed) == len(member.value.items) and member.key not in (had or ()):
                emptied.append(at)
                continue
            splices += json_edit.remove(text, member.value, doomed) if doomed else []
            for inner, positions in self._partly_ours(text, member.value):
                splices += json_edit.remove(text, inner, positions)
        whole = len(emptied) == len(hooks.members) and json_edit.is_bare(text, hooks)
        if emptied and whole and had is None:
            place = [member.key for member in root.members].index(HOOKS)
            return json_edit.apply(text, json_edit.remove(text, root, [place]))
        splices += json_edit.remove(text, hooks, emptied) if emptied else []
        return json_edit.apply(text, splices)

    def _hooks(self, text: str, root: Node) -> Node | None:
        """Returns the table; raises `JsonError` when its form is neither ours nor the agents'."""
        if root.type != "object":
            raise JsonError(text, root.start, "the file does not hold a JSON object")
        hooks = root.get(HOOKS, text)
        if hooks is None:
            return None
        if hooks.type != "object":
            raise JsonError(text, hooks.start, '"hooks" is not an object')
        for member in hooks.members:
            hooks.get(member.key, text)
            if member.value.type != "array":
                raise JsonError(text, member.start, f'"hooks.{member.key}" is not an array')
        return hooks

    def _members(self, text: str) -> Any:
        hooks = self._hooks(text, self._scan(text)) if text.strip() else None
        return hooks.members if hooks else ()

    def _mixed(self, text: str) -> set[str]:
        members = self._members(text)
        return {member.key for member in members if self._partly_ours(text, member.value)}

    def _our_items(self, text: str, array: Node) -> list[int]:
        """Returns the positions of the entries that hold nothing but hooks of ours."""
        return [at for at, item in enumerate(array.items) if self._owned(text, item) == "all"]

    def _partly_ours(self, text: str, array: Node) -> list[tuple[Node, list[int]]]:
        """Returns groups that somebody merged, each with the positions of our hooks."""
        groups = []
        for item in array.items:
            inner = item.get(HOOKS, text) if self._nested else None
            if inner is not None and self._owned(text, item) == "some":
                mine = [at for at, hook in enumerate(inner.items) if self._is_ours(hook, text)]
                groups.append((inner, mine))
        return groups

    def _owned(self, text: str, item: Node) -> str:
        inner = item.get(HOOKS, text) if self._nested else None
        hooks = (inner.items if inner else ()) if self._nested else (item,)
        mine = [self._is_ours(hook, text) for hook in hooks]
        if not any(mine):
            return "none"
        return "all" if all(mine) else "some"

    def _is_ours(self, hook: Node, text: str) -> bool:
        command = hook.get(self._command, text)
        return command is not None and is_our_command(command.load(text))


def plain(table: Table) -> Mapping[str, list[Item]]:
    """Returns the same table with lists of its own, for comparing."""
    return {event: list(items) for event, items in table.items()}
