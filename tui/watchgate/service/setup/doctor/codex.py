"""Checks that Codex trusts our hooks, by its own app-server: it skips untrusted ones silently."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.doctor.codex_server import CodexServer, CodexServerError

_NAME = "codex: trust"
_MEND = 'start codex and accept "Hooks need review", or run `watchgate doctor codex --fix`'


def check_trust(
    program: str, commands: frozenset[str], cwd: Path, env: Mapping[str, str], *, fix: bool
) -> Check:
    """Asks Codex about the hooks with these commands; `fix` records trust in them, in no others.

    Args:
        program: The path of Codex.
        commands: The very commands that we install: one that only looks like ours could come from
            a repository's own hooks file.
        cwd: The folder whose hooks Codex lists.
        env: Codex's environment.
        fix: Whether to record trust.
    """
    try:
        with CodexServer(program, cwd, env) as server:
            hooks = _ours(server, commands, cwd)
            doubtful = _untrusted(hooks)
            if not (fix and doubtful):
                return _judge(hooks, doubtful)
            _trust(server, doubtful)
            left = _untrusted(_ours(server, commands, cwd))
    except CodexServerError as error:
        return Check(_NAME, "warn", f"cannot be asked for: {error}", _MEND)
    except (KeyError, TypeError) as error:
        return Check(_NAME, "warn", f"codex app-server answers in another form: {error!r}", _MEND)
    if left:
        return Check(_NAME, "fail", f"{len(left)} hooks stay untrusted", _MEND)
    text = f"recorded your trust in {len(doubtful)} hooks of watchgate in Codex's configuration"
    return Check(_NAME, "ok", text)


def judge_files(*, trusts: bool) -> Check:
    """Judges by Codex's own files, where there is no program to ask."""
    if trusts:
        text = "codex is not on the search path; by its files it trusts our hooks"
        return Check(_NAME, "ok", text)
    text = "codex is not on the search path; by its files nobody trusted our hooks: it skips such"
    return Check(_NAME, "fail", text, 'start codex and accept "Hooks need review"')


def _judge(hooks: list[dict[str, Any]], doubtful: list[dict[str, Any]]) -> Check:
    if not hooks:
        return Check(_NAME, "fail", "Codex finds no hooks of watchgate", "watchgate install codex")
    off = [hook for hook in hooks if not hook.get("enabled", True)]
    if off:
        text = f"{len(off)} of {len(hooks)} hooks are switched off in Codex"
        return Check(_NAME, "fail", text, "switch them on with /hooks in codex")
    if doubtful:
        text = f"Codex skips {len(doubtful)} of {len(hooks)} hooks: nobody trusted them"
        return Check(_NAME, "fail", text, _MEND)
    return Check(_NAME, "ok", "Codex trusts all hooks of watchgate")


def _ours(server: CodexServer, commands: frozenset[str], cwd: Path) -> list[dict[str, Any]]:
    listed = server.call("hooks/list", {"cwds": [str(cwd)]})["data"]
    hooks = [hook for each in listed for hook in each["hooks"]]
    return [hook for hook in hooks if hook.get("command") in commands]


def _untrusted(hooks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [hook for hook in hooks if hook["trustStatus"] not in ("trusted", "managed")]


def _trust(server: CodexServer, hooks: list[dict[str, Any]]) -> None:
    value = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
    edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": value}
    server.call("config/batchWrite", {"reloadUserConfig": True, "edits": [edit]})
