"""The usage of agents: the places where they write it down, and the interface of its readers.

Sources: the documented folders and variables of Claude Code 2.1, Codex CLI 0.169, Gemini CLI,
Qwen Code, OpenCode and Copilot CLI; `GEMINI_DATA_DIR`, `OPENCODE_DATA_DIR` and `QWEN_DATA_DIR` are
what counters of usage have in common for agents that have no variable of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from watchgate.core.model.usage_records import Limit
from watchgate.core.usage.usage_calls import UsageCall


class FileFacts(msgspec.Struct, kw_only=True):
    """The facts of a file so far.

    `thread` is what it was written for and `parent` the thread that it was forked from, where the
    ids of its calls depend on that (Codex). `context_used` tokens of `context_size` are in the
    context of the session itself.
    """

    session: str = ""
    sub: str = ""
    thread: str = ""
    parent: str = ""
    cwd: str = ""
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Limit, ...] = ()
    limits_at_us: int = 0


class UsageReader(Protocol):
    """Reads one file in order; it holds no descriptor and never raises for what a file holds."""

    facts: FileFacts
    unreadable: int

    def read(self, chunk: bytes) -> None:
        """Takes in some whole lines (of a whole-file source: all of it)."""
        ...

    def take(self) -> list[UsageCall]:
        """Returns the calls that are new or reported anew since the last time.

        Calls are told apart by `(id, request, side)`; one that is reported anew takes the place of
        the one before it.
        """
        ...


UsageForm = Literal["lines", "whole", "rows"]
"""The way a file is read: whole lines from where it ended last, all of it anew, or a database."""


class UsagePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place of one agent's files: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: UsageForm = "lines"


def usage_places(env: Mapping[str, str], home: str) -> tuple[UsagePlace, ...]:
    """Returns all places of this user, whether they are there or not; `home` is an absolute path.

    A variable that is empty or not an absolute path is passed over, as if it were not set.
    """
    agents = (_claude, _codex, _gemini, _qwen, _opencode, _copilot)
    return tuple(place for places in agents for place in places(env, home))


def _claude(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    configured = env.get("CLAUDE_CONFIG_DIR", "").split(",")
    folders = [folder for each in configured if (folder := _absolute(each, home))]
    locations = []
    for folder in dict.fromkeys(folders or (f"{home}/.claude", f"{home}/.config/claude")):
        root = folder if folder.endswith("/projects") else f"{folder}/projects"
        locations += [
            UsagePlace(agent="claude", root=root, pattern="*/*.jsonl"),
            UsagePlace(agent="claude", root=root, pattern="*/*/subagents/**/*.jsonl"),
        ]
    return locations


def _codex(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    folder = _absolute(env.get("CODEX_HOME", ""), home) or f"{home}/.codex"
    # Two roots, since either is at times a link to another disk.
    return [
        UsagePlace(agent="codex", root=f"{folder}/{below}", pattern="**/*.jsonl")
        for below in ("sessions", "archived_sessions")
    ]


def _gemini(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    folder, projects = _absolute(env.get("GEMINI_DATA_DIR", ""), home), "tmp"
    locations = []
    for root in (folder, f"{folder}/{projects}") if folder else (f"{home}/.gemini/{projects}",):
        locations += [
            UsagePlace(agent="gemini", root=root, pattern="*/chats/**/*.jsonl"),
            UsagePlace(agent="gemini", root=root, pattern="*/chats/**/*.json", form="whole"),
        ]
    return locations


def _qwen(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    folder = _absolute(env.get("QWEN_DATA_DIR", ""), home) or f"{home}/.qwen"
    return [
        UsagePlace(agent="qwen", root=f"{folder}/projects", pattern=f"*/{below}/**/*.jsonl")
        for below in ("chats", "subagents")
    ]


def _opencode(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    data = _absolute(env.get("XDG_DATA_HOME", ""), home) or f"{home}/.local/share"
    folder = _absolute(env.get("OPENCODE_DATA_DIR", ""), home) or f"{data}/opencode"
    messages = f"{folder}/storage/message"
    return [
        UsagePlace(agent="opencode", root=folder, pattern="opencode*.db", form="rows"),
        UsagePlace(agent="opencode", root=messages, pattern="*/*.json", form="whole"),
    ]


def _copilot(env: Mapping[str, str], home: str) -> list[UsagePlace]:
    folder = _absolute(env.get("COPILOT_HOME", ""), home) or f"{home}/.copilot"
    return [UsagePlace(agent="copilot", root=f"{folder}/session-state", pattern="*/events.jsonl")]


def _absolute(configured: str, home: str) -> str:
    path = configured.strip()
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return (path.rstrip("/") or "/") if path.startswith("/") else ""
