"""The calls in a rollout of Codex.

Source: Codex CLI 0.169, `sessions/**/rollout-*.jsonl`: `response_item` lines with `function_call`,
`custom_tool_call` and `local_shell_call`; the first `session_meta` tells whose file it is.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

import msgspec

from watchgate.agents.codex import CLASSES
from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.agents.table.payload_values import input_of
from watchgate.agents.transcripts.transcript_lines import (
    LineCalls,
    decoded,
    folder,
    mapping,
    moment_us,
    word,
)
from watchgate.core.lookback.transcript_call import TranscriptCall

SHELLS: Final = frozenset(("shell", "shell_command", "exec_command", "local_shell"))
_WRAPPERS: Final = frozenset(("bash", "sh", "zsh"))
_WRAPPED: Final = 3
COPY_US: Final = 1_000_000
"""A fork begins with a copy of its parent, written anew in one go with the time of the fork."""
_FOLDERS: Final = ("workdir", "working_directory")


class _CodexLine(msgspec.Struct, gc=False):
    type: Any = None
    timestamp: Any = None
    payload: msgspec.Raw = msgspec.Raw(b"")


class CodexCalls(LineCalls[_CodexLine]):
    """Reads one rollout in order."""

    def __init__(self, stem: str, cwd: str = "") -> None:
        super().__init__(_CodexLine, stem, cwd)
        self._known = False
        self._side = False
        self._alone = False

    def read(self, chunk: bytes) -> list[TranscriptCall]:
        """Returns the calls that these whole lines ask for."""
        calls: list[TranscriptCall] = []
        for line in self._lines.of(chunk):
            if line.type == "session_meta":
                self._meta(mapping(decoded(line.payload)))
            elif line.type == "turn_context":
                turn = mapping(decoded(line.payload))
                self._cwd = folder(turn.get("cwd")) or self._cwd
                self._alone = turn.get("approval_policy") == "never"
            elif line.type == "response_item" and b"_call" in bytes(line.payload):
                asked = self._asked(mapping(decoded(line.payload)), moment_us(line.timestamp))
                calls += () if asked is None else (asked,)
        return calls

    def _meta(self, meta: dict[str, Any]) -> None:
        if self._known:
            return  # a fork repeats its parent's
        self._known = True
        if meta.get("forked_from_id"):
            self.copied_until_us = moment_us(meta.get("timestamp")) + COPY_US
        self._cwd = folder(meta.get("cwd")) or self._cwd
        sub = mapping(mapping(meta.get("source")).get("subagent"))
        parent = word(mapping(sub.get("thread_spawn")).get("parent_thread_id"))
        self._side = bool(sub)
        self._session = parent or word(meta.get("id")) or self._session

    def _asked(self, item: dict[str, Any], at_us: int) -> TranscriptCall | None:
        named_call = _named_call(item)
        if named_call is None:
            return None
        name, args = named_call
        call_id = word(item.get("call_id")) or word(item.get("id"))
        cwd = self._cwd
        for key in _FOLDERS:
            if isinstance(where := args.get(key), str) and where and name == "Bash":
                cwd = posixpath.normpath(posixpath.join(cwd, where))
                args = {field: value for field, value in args.items() if field != key}
        return TranscriptCall(
            agent="codex",
            session=self._session,
            tool=describe_tool(name, args, call_id, CLASSES),
            at_us=at_us,
            cwd=cwd,
            side=self._side,
            alone=self._alone,
        )


def _named_call(item: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    kind, name = item.get("type"), word(item.get("name"))
    if kind == "function_call" and name in SHELLS:
        return "Bash", _command(input_of(item.get("arguments")))
    if kind == "function_call" and name:
        return name, input_of(item.get("arguments"))
    if kind == "custom_tool_call" and name == "apply_patch":
        return name, {"command": item.get("input")}
    if kind == "custom_tool_call" and name:
        return name, input_of(item.get("input"))
    if kind == "local_shell_call":
        return "Bash", _command(mapping(item.get("action")))
    return None


def _command(args: dict[str, Any]) -> dict[str, Any]:
    """Returns the command as Codex's own hooks have it: the text, without the shell around it."""
    command = args.get("command", args.get("cmd"))
    if isinstance(command, list) and len(command) == _WRAPPED:
        shell, flag, text = command
        named = posixpath.basename(shell) if isinstance(shell, str) else ""
        if named in _WRAPPERS and flag in ("-c", "-lc") and isinstance(text, str):
            command = text
    where: dict[str, Any] = {key: args[key] for key in _FOLDERS if key in args}
    return {"command": command, **where}
