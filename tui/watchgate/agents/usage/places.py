"""The usage of agents: the places where they write it down, and the interface of its readers.

Sources: the documented folders and variables of Claude Code 2.1, Codex CLI 0.169, Gemini CLI,
Qwen Code, OpenCode and Copilot CLI; `GEMINI_DATA_DIR`, `OPENCODE_DATA_DIR` and `QWEN_DATA_DIR` are
what counters of usage have in common for agents that have no variable of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.agents.usage.base import Place

_GEMINI_PROJECTS = "tmp"


def places(env: Mapping[str, str], home: str) -> tuple[Place, ...]:
    """Returns all places of this user, whether they are there or not; `home` is an absolute path.

    A variable that is empty or not an absolute path is passed over, as if it were not set.
    """
    return (
        *_claude(env, home),
        *_codex(env, home),
        *_gemini(env, home),
        *_qwen(env, home),
        *_opencode(env, home),
        *_copilot(env, home),
    )


def _claude(env: Mapping[str, str], home: str) -> list[Place]:
    configured = env.get("CLAUDE_CONFIG_DIR", "").split(",")
    folders = [folder for each in configured if (folder := _absolute(each, home))]
    locations = []
    for folder in dict.fromkeys(folders or (f"{home}/.claude", f"{home}/.config/claude")):
        root = folder if folder.endswith("/projects") else f"{folder}/projects"
        locations += [
            Place(agent="claude", root=root, pattern="*/*.jsonl"),
            Place(agent="claude", root=root, pattern="*/*/subagents/**/*.jsonl"),
        ]
    return locations


def _codex(env: Mapping[str, str], home: str) -> list[Place]:
    folder = _absolute(env.get("CODEX_HOME", ""), home) or f"{home}/.codex"
    # Two roots, since either is at times a link to another disk.
    return [
        Place(agent="codex", root=f"{folder}/{below}", pattern="**/*.jsonl")
        for below in ("sessions", "archived_sessions")
    ]


def _gemini(env: Mapping[str, str], home: str) -> list[Place]:
    if folder := _absolute(env.get("GEMINI_DATA_DIR", ""), home):
        roots = [folder, f"{folder}/{_GEMINI_PROJECTS}"]
    else:
        roots = [f"{home}/.gemini/{_GEMINI_PROJECTS}"]
    return [
        place
        for root in roots
        for place in (
            Place(agent="gemini", root=root, pattern="*/chats/**/*.jsonl"),
            Place(agent="gemini", root=root, pattern="*/chats/**/*.json", form="whole"),
        )
    ]


def _qwen(env: Mapping[str, str], home: str) -> list[Place]:
    folder = _absolute(env.get("QWEN_DATA_DIR", ""), home) or f"{home}/.qwen"
    root = f"{folder}/projects"
    return [
        Place(agent="qwen", root=root, pattern="*/chats/**/*.jsonl"),
        Place(agent="qwen", root=root, pattern="*/subagents/**/*.jsonl"),
    ]


def _opencode(env: Mapping[str, str], home: str) -> list[Place]:
    data = _absolute(env.get("XDG_DATA_HOME", ""), home) or f"{home}/.local/share"
    folder = _absolute(env.get("OPENCODE_DATA_DIR", ""), home) or f"{data}/opencode"
    messages = f"{folder}/storage/message"
    return [
        Place(agent="opencode", root=folder, pattern="opencode*.db", form="rows"),
        Place(agent="opencode", root=messages, pattern="*/*.json", form="whole"),
    ]


def _copilot(env: Mapping[str, str], home: str) -> list[Place]:
    folder = _absolute(env.get("COPILOT_HOME", ""), home) or f"{home}/.copilot"
    return [Place(agent="copilot", root=f"{folder}/session-state", pattern="*/events.jsonl")]


def _absolute(configured: str, home: str) -> str:
    path = configured.strip()
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return (path.rstrip("/") or "/") if path.startswith("/") else ""
