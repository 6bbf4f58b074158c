"""What a tool call's input says: the command, the paths, the address, the lines that change."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from watchgate.core.events import Tool, ToolClass

PATH_KEYS = ("file_path", "notebook_path", "path")
_HASH_LENGTH = 32
_ENCODER = msgspec.json.Encoder(order="sorted")
_PATCH_PATH = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)


def command(tool: Tool) -> str | None:
    """The shell command of the call; an argument list is quoted into one. None without any."""
    value = tool.input.get("command")
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return shlex.join(value)
    return None


def paths(tool: Tool) -> tuple[str, ...]:
    """The files that the call names, as it writes them, in order and without repeats."""
    named = [value for key in PATH_KEYS if isinstance(value := tool.input.get(key), str) and value]
    return tuple(dict.fromkeys(named or _PATCH_PATH.findall(_patch(tool))))


def url(tool: Tool) -> str | None:
    """The address that the call fetches, if it names one."""
    value = tool.input.get("url")
    return value if isinstance(value, str) else None


def line_counts(tool: Tool) -> tuple[int, int]:
    """Lines that an edit adds and removes; (0, 0) where the input does not say."""
    if patch := _patch(tool):
        lines = patch.splitlines()
        return sum(map(_added, lines)), sum(map(_removed, lines))
    edits = tool.input.get("edits")
    changes = [tool.input, *(edits if isinstance(edits, list) else ())]
    added = removed = 0
    for change in changes:
        if isinstance(change, Mapping):
            added += sum(_lines(change.get(key)) for key in ("new_string", "content", "new_source"))
            removed += _lines(change.get("old_string"))
    return added, removed


def input_hash(args: dict[str, Any], cls: ToolClass) -> str:
    """32 hex digits over everything that decides what runs.

    The description of a command is left out: Codex adds it on the permission event of a call only.
    Without a command it is what the call is about, such as the text of an issue; and a tool that
    the agent did not make itself may do anything with it.
    """
    its_own = cls not in ("mcp", "other")
    if its_own and "description" in args and "command" in args:
        args = {key: value for key, value in args.items() if key != "description"}
    return sha256(_ENCODER.encode(args)).hexdigest()[:_HASH_LENGTH]


def _patch(tool: Tool) -> str:
    text = command(tool) or tool.input.get("patch")
    return text if isinstance(text, str) and "*** Begin Patch" in text else ""


def _added(line: str) -> bool:
    return line.startswith("+")


def _removed(line: str) -> bool:
    return line.startswith("-")


def _lines(value: Any) -> int:
    return len(value.splitlines()) if isinstance(value, str) else 0
