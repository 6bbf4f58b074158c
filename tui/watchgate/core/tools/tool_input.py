"""The input of a tool call: the command, the paths, the addresses, the lines that change.

Agents give the same things different names; all of those are looked at, so that none of them can
carry a path or a command past a rule. The input itself is left as the agent wrote it.

- The digest that names one question for good: whose call it is, and exactly what would run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

import msgspec

from watchgate.core.base.ids import digest
from watchgate.core.model.events import Event, Tool, ToolClass


def subject_digest(event: Event, tool: Tool) -> str:
    """The digest of exactly what is asked, as 64 hex digits."""
    return digest(
        {
            "agent": event.agent,
            "session": event.session,
            "sub": event.sub_id,
            "tool": tool.native_name,
            "input": tool.input,
            "cwd": event.cwd,
        }
    )


PATH_KEYS = dict.fromkeys(
    (
        "file_path",
        "filePath",
        "notebook_path",
        "notebookPath",
        "path",
        "absolute_path",
        "target_file",
        "target_notebook",
        "target_directory",
        "dir_path",
        "dirPath",
        "directory",
        "source",
        "destination",
    )
)
_PATH_LISTS = ("paths", "file_paths", "filePaths", "files", "include")
_PART_LISTS = ("operations", "requests", "files", "edits", "replacements", "locations")
_COMMAND_KEYS = ("command", "command_line", "commandLine")
_COMMAND_LISTS = ("commands",)
COMMANDS = frozenset((*_COMMAND_KEYS, *_COMMAND_LISTS))
_URL_KEYS = ("url", "uri", "urls")
_OLD_KEYS = dict.fromkeys(("old_string", "old_str", "oldString", "oldText", "before"))
_NEW_KEYS = dict.fromkeys(
    (
        "new_string",
        "new_str",
        "newString",
        "newText",
        "after",
        "content",
        "contents",
        "file_text",
        "new_source",
        "code",
    )
)
_PATCH_KEYS = ("command", "patch", "input", "diff")
_FOLDER_KEYS = (
    "workdir",
    "cwd",
    "working_dir",
    "workingDir",
    "working_directory",
    "workingDirectory",
    "dir_path",
    "dirPath",
    "directory",
)
_VARIABLE_KEYS = ("env", "environment")
_NOT_RUN = ("description", "timeout", "timeout_ms")
_IN_FRONT = ("is_background", "run_in_background")
PARTED = frozenset(_PART_LISTS)
EDIT_KEYS = frozenset((*PATH_KEYS, *_OLD_KEYS, *_NEW_KEYS, *_PATCH_KEYS))
_NAMES_PATHS = frozenset((*_PATH_LISTS, "operations", "requests"))
_HASH_LENGTH = 32
_ENCODER = msgspec.json.Encoder(order="sorted")
_PATCH_PATH = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)\s*$", re.MULTILINE
)
_FILE_KEYS = ("file", "filename", "filepath", "file_name", "fileName")
_FILE_ADDRESS = re.compile(r"file:(?://[^/]*)?(/.*)", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,63}://[^\s\"'<>`)\]]+", re.IGNORECASE)


def command(tool: Tool) -> str | None:
    """The shell command of the call, one line each where there are several. None without any.

    An argument list is quoted into one command.
    """
    args = tool.input
    named = [key for key in args if key in COMMANDS]
    if len(named) == 1 and isinstance(only := args[named[0]], str):
        return only
    commands = [_command(args[key]) for key in _COMMAND_KEYS if key in args]
    for key in _COMMAND_LISTS:
        several = args.get(key)
        if isinstance(several, list):
            commands.extend(map(_command, several))
        elif several is not None:
            commands.append(_command(several))
    # One that cannot be read must not be covered up by one that can.
    if not commands or any(each is None for each in commands):
        return None
    return "\n".join(each for each in commands if each is not None)


def folder(tool: Tool) -> str | None:
    """The folder that a shell call names for its command; empty without, None if it is no text."""
    folders = {args if isinstance(args, str) else None for args in _given(tool, _FOLDER_KEYS)}
    return "" if not folders else folders.pop() if len(folders) == 1 else None


def sets_variables(tool: Tool) -> bool:
    """Returns whether a shell call sets variables for its command besides those in the command."""
    return bool(_given(tool, _VARIABLE_KEYS))


def besides(tool: Tool) -> tuple[str, ...]:
    """The fields of a shell call that may change what its command does, and stand not in it.

    Limits in numbers and whether it runs in the background change nothing of that.
    """
    return tuple(
        key
        for key, value in tool.input.items()
        if key not in COMMANDS
        and key not in (*_NOT_RUN, *_IN_FRONT)
        and value not in (None, "", [], {}, False)
        and (isinstance(value, bool) or not isinstance(value, int | float))
    )


def paths(tool: Tool) -> tuple[str, ...]:
    """The files that the call names, as it writes them, in order and without repeats."""
    named = _paths(tool.input)
    if text := patch(tool):
        named += _PATCH_PATH.findall(text)
    if tool.cls in ("mcp", "other"):
        named += _files_of_servers(tool.input)
    return tuple(dict.fromkeys(named))


def _files_of_servers(args: dict[str, Any]) -> list[str]:
    """The files that a tool of unknown making names in fields of its own, or by address."""
    paths = [each for key in _FILE_KEYS for each in _texts(args.get(key))]
    for value in args.values():
        matches = map(_FILE_ADDRESS.match, _texts(value))
        paths += [unquote(match[1]) for match in matches if match]
    return paths


def url(tool: Tool) -> str | None:
    """The address that the call fetches, the first where it names several."""
    return next(iter(urls(tool)), None)


def urls(tool: Tool) -> tuple[str, ...]:
    """The addresses that the call fetches; without any, those in the words that say what to do."""
    args = tool.input
    addresses = [each for key in _URL_KEYS for each in _texts(args.get(key))]
    if not addresses and isinstance(words := args.get("prompt"), str):
        addresses = _ADDRESS.findall(words)
    return tuple(dict.fromkeys(addresses))


def patch(tool: Tool) -> str:
    """The patch that the call applies; empty where it applies none."""
    args = tool.input
    for key in _PATCH_KEYS:
        if key not in args:
            continue
        text = args[key]
        if isinstance(text, list):
            text = _command(text)
        if isinstance(text, str) and "*** Begin Patch" in text:
            return text
    return ""


def replacements(tool: Tool) -> Iterator[tuple[list[str], list[str]]]:
    """For each change of an edit the texts that it takes away and those that it puts in."""
    for _, old, new in changing_parts(tool):
        yield old, new


def changing_parts(tool: Tool) -> Iterator[tuple[Mapping[str, Any], list[str], list[str]]]:
    """As `replacements`, each with the part of the input that says it."""
    for part in _parts(tool.input):
        old, new = _values(part, _OLD_KEYS), _values(part, _NEW_KEYS)
        if old or new:
            yield part, old, new


def line_counts(tool: Tool) -> tuple[int, int]:
    """Lines that an edit adds and removes; (0, 0) where the input does not say.

    A line ends at LF, as it does where changes are shown.
    """
    if text := patch(tool):
        return _lines_beginning("+", text), _lines_beginning("-", text)
    added = removed = 0
    for old, new in replacements(tool):
        added += sum(map(_line_count, new))
        removed += sum(map(_line_count, old))
    return added, removed


def input_hash(args: dict[str, Any], cls: ToolClass) -> str:
    """32 hex digits over everything that decides what runs.

    Agents describe one call differently on its lanes. Left out is what changes nothing of what
    runs: of a shell command its description, its time limit, fields without a value and
    that it does not run in the background; the
    description of any other call with a command (Codex adds it on the permission event only).
    Without a command a description is what the call is about, such as the text of an issue; and a
    tool that the agent did not make itself may do anything with any of its fields.
    """
    if cls == "shell" and "command" in args:
        if len(args) > 1:
            args = {key: value for key, value in args.items() if _decides(key, value)}
    elif cls not in ("mcp", "other") and "description" in args and "command" in args:
        args = {key: value for key, value in args.items() if key != "description"}
    return sha256(_ENCODER.encode(args)).hexdigest()[:_HASH_LENGTH]


def _decides(key: str, value: Any) -> bool:
    if key == "command":
        return True
    if key in _NOT_RUN or value is None or value == "":
        return False
    return value is not False or key not in _IN_FRONT


def _given(tool: Tool, keys: tuple[str, ...]) -> list[Any]:
    args = tool.input
    return [args[key] for key in keys if key in args and args[key] not in (None, "", [], {})]


def _command(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return shlex.join(value)
    if isinstance(value, Mapping) and isinstance(program := value.get("command"), str):
        args = value.get("args", [])
        if isinstance(args, list) and all(isinstance(part, str) for part in args):
            # Its command may be a whole line, so it is not quoted.
            return " ".join((program, *map(shlex.quote, args)))
    return None


def _parts(args: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The input and the parts that it does its work in."""
    argument_sets = [args]
    if not PARTED.isdisjoint(args):  # few inputs have any
        for key in _PART_LISTS:
            parts = args.get(key)
            if isinstance(parts, list):
                argument_sets += [part for part in parts if isinstance(part, Mapping)]
    return argument_sets


def _paths(args: Mapping[str, Any]) -> list[str]:
    paths: list[str] = []
    for part in _parts(args):
        paths += _values(part, PATH_KEYS)
        if not _NAMES_PATHS.isdisjoint(part):
            for key in _PATH_LISTS:
                several = part.get(key)
                if isinstance(several, list):
                    paths += _texts(several)
    if not _NAMES_PATHS.isdisjoint(args):
        for key in ("operations", "requests"):
            paths += _texts(args.get(key))
    return paths


def _values(part: Mapping[str, Any], keys: Mapping[str, None]) -> list[str]:
    named = [key for key in part if key in keys]  # an input has fewer fields than names to look for
    if len(named) > 1:
        named = [key for key in keys if key in part]
    return [value for key in named if isinstance(value := part[key], str) and value]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [each for each in value if isinstance(each, str) and each] if _is_list(value) else []


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


# Texts may be megabytes: their lines are counted, and never made.
def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _lines_beginning(sign: str, text: str) -> int:
    return text.count(f"\n{sign}") + text.startswith(sign)
