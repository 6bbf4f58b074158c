"""Checks that Codex trusts our hooks, by its own app-server: it skips untrusted ones silently."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from watchgate import __version__

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
