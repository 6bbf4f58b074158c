"""Checks what installed entries start, and the variables that could end it.

Checks that Codex trusts our hooks, by its own app-server: it skips untrusted ones silently.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from watchgate import __version__
from watchgate.agents.base import Adapter, Setup
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.hook_client import probe_interpreter
from watchgate.service.setup.manifest import looked_at
from watchgate.service.watch.integrity.examiner import variable_files
from watchgate.service.watch.integrity.file_judges import variables_judge

_PATIENCE_S = 20.0
_READ_BYTES = 65536


class CodexServerError(RuntimeError):
    """The app-server did not start, ended, was too slow or refused; the message says which."""


class CodexServer:
    """A conversation with `codex app-server`, which is experimental there."""

    def __init__(self, program: str, cwd: Path, env: Mapping[str, str]) -> None:
        self._id = 0
        self._buffer = b""
        self._until_s = time.monotonic() + _PATIENCE_S
        try:
            self._process = subprocess.Popen(
                [program, "app-server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env=dict(env),
            )
        except OSError as error:
            raise CodexServerError(f"{program} does not start: {error.strerror}") from error

    def __enter__(self) -> Self:
        about = {"name": "watchgate", "title": "watchgate", "version": __version__}
        try:
            self.call("initialize", {"clientInfo": about})
            self._send({"method": "initialized"})
        except CodexServerError:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Returns the result of one request; raises `CodexServerError`."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") != self._id or "method" in message:
                continue
            if "error" in message:
                raise CodexServerError(f"{method}: {message['error'].get('message', 'refused')}")
            return message["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise CodexServerError("the app-server ended") from error

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            left_s = self._until_s - time.monotonic()
            if left_s <= 0 or not select.select([descriptor], [], [], left_s)[0]:
                raise CodexServerError(f"the app-server gave no answer in {_PATIENCE_S:g} s")
            chunk = os.read(descriptor, _READ_BYTES)
            if not chunk:
                raise CodexServerError("the app-server ended")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            message = json.loads(line)
        except ValueError as error:
            raise CodexServerError("the app-server does not speak JSON") from error
        return message if isinstance(message, dict) else {}

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


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


def check_variables(
    agent: Adapter, setup: Setup, env: Mapping[str, str], cwd: Path
) -> Iterator[Check]:
    """Yields one finding per file that sets such a variable, or that none does."""
    name, well = f"{agent.name}: variables", True
    for path, _root, dotenv in variable_files(setup, env, [str(cwd)]):
        judge = variables_judge(agent, path, env.get("HOME", ""), dotenv=dotenv)
        try:
            alarm = judge(looked_at(Path(path)))
        except OSError as fault:
            well = False
            yield Check(name, "warn", f"{path} cannot be read: {fault.strerror}", "look again")
            continue
        if alarm is not None:
            well = False
            yield Check(name, "fail", alarm.what, alarm.mend)
    if well and setup.silencers is not None:
        yield Check(name, "ok", "no file sets a variable that can keep hooks from running")


def check_client(agent: Adapter, programs: Iterable[Path | None], places: Paths) -> Iterator[Check]:
    """Checks the client's copy and its bytecode, for each interpreter that entries run.

    None stands for the native client, which needs no interpreter.
    """
    install, programs = f"watchgate install {agent.name}", set(programs)
    if None in programs:
        yield _check_native(f"{agent.name}: native client", places, install)
    for python in sorted(each for each in programs if each is not None):
        copy = _check_copy(f"{agent.name}: client", places, install)
        yield copy
        runs = _check_python(f"{agent.name}: interpreter", python, install)
        yield runs
        if copy.status == "ok" and runs.status != "fail":
            yield _check_bytecode(f"{agent.name}: bytecode", places, python)


def _check_copy(name: str, places: Paths, install: str) -> Check:
    for path, content in hook_client.packaged_copy(places).items():
        try:
            present = path.read_bytes()
        except OSError as error:
            return Check(name, "fail", f"{path}: {error.strerror}", install)
        if present != content:
            return Check(name, "fail", f"{path} is of another version", install)
    if places.program.is_symlink() and not places.program.exists():
        text = f"denials say that the program is gone, as {places.program.readlink()} is"
        return Check(name, "warn", text, install)
    text = f"{places.client} and {places.client_module.name} are the client of this version"
    return Check(name, "ok", text)


def _check_native(name: str, places: Paths, install: str) -> Check:
    path = places.native_client
    try:
        same, runs = path.read_bytes() == hook_client.packaged_native(), os.access(path, os.X_OK)
    except OSError as error:
        return Check(name, "fail", f"{path}: {error.strerror}", install)
    if not same:
        return Check(name, "fail", f"{path} is of another version", install)
    if not runs:
        return Check(name, "fail", f"{path} may not be run", install)
    return Check(name, "ok", f"{path} is the native client of this version")


def _check_bytecode(name: str, places: Paths, python: Path) -> Check:
    cache = hook_client.bytecode_directory(places)
    if hook_client.renew_bytecode(places, python):
        return Check(name, "ok", f"{python} finds the client compiled, anew just now, in {cache}")
    text = f"{python} cannot cache bytecode in {cache}: each hook compiles the client and is slower"
    return Check(name, "warn", text, f"give yourself the right to write to {cache}")


def _check_python(name: str, path: Path, install: str) -> Check:
    interpreter = probe_interpreter(path)
    if interpreter is None:
        text = f"{path} does not run, is older than 3.8, or is a virtual environment's"
        return Check(name, "fail", text, install)
    if interpreter != path:
        return Check(name, "warn", f"{path} is a shim for {interpreter}", install)
    return Check(name, "ok", f"{path} runs")
