"""An agent's side: it runs the installed hook command and takes it as Claude Code does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.e2e.programs import Finished, bash, until
from tests.faults.words import Gets
from watchgate.agents.base import HookEntry
from watchgate.agents.registry import ADAPTERS

PATIENCE_S = 60
CLAUDE = ADAPTERS["claude"]
EVENTS = {
    "gate": "PreToolUse",
    "gate-read": "PreToolUse",
    "relay": "PermissionRequest",
    "observe": "UserPromptSubmit",
}
RISKY = "git reset --hard HEAD~3"


def entry(lane: str) -> HookEntry:
    """The hook that is installed on a lane."""
    event = EVENTS[lane]
    return next(e for e in CLAUDE.entries("guard") if (e.event, e.lane) == (event, lane))


def call(lane: str, session: str, mark: str) -> dict[str, Any]:
    """What the agent tells; a healthy core holds it on every lane that waits.

    The mark is in the input of the call, where handlers can look for it.
    """
    if lane == "observe":
        return {"session_id": session, "cwd": "/tmp", "prompt": "go on"}
    if lane == "gate-read":
        key = {"tool_name": "Read", "tool_input": {"file_path": f"/home/u/.ssh/{mark}/id_rsa"}}
        return bash("", session=session) | key
    return bash(f"{RISKY} # {mark}", session=session)


def read(lane: str, done: Finished) -> Gets:
    """What the agent makes of it; an allow is told by no word of ours and fails here."""
    said = told(done.out)
    assert '"allow"' not in done.out, f"nobody gave that: {done.out}"
    assert "approve" not in said.values(), f"nobody gave that: {done.out}"
    if lane == "observe":
        assert (done.code, done.out) == (0, ""), f"an observer says nothing: {done}"
        return Gets.DROPPED
    if done.code < 0:
        return Gets.KILLED
    # It reads no JSON then.
    if done.code == 2:
        return Gets.DENIED
    assert done.code == 0, (done.code, done.out, done.err)
    if '"deny"' in done.out:
        assert "hookSpecificOutput" in said, "one object and nothing beside it"
        return Gets.DENIED
    assert not said, f"that is an opinion: {done.out}"
    return Gets.NO_OPINION


def told(out: str) -> dict[str, Any]:
    """The object that the hook printed; empty where that is nothing or no JSON at all."""
    with suppress(ValueError):
        said = json.loads(out)
        return said if isinstance(said, dict) else {}
    return {}


class Asked:
    """One hook at work, in a group of its own as agents start it."""

    def __init__(
        self, argv: list[str], payload: bytes, *, keep_open: bool = False, deaf: bool = False
    ) -> None:
        out, heard = os.pipe()
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=heard,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"]},
            start_new_session=True,
        )
        os.close(heard)
        if deaf:
            os.close(out)
        self._out = -1 if deaf else out
        # Not the process's own any more: waiting for it would close it.
        assert self.process.stdin is not None
        self._stdin, self.process.stdin = self.process.stdin, None
        if keep_open:
            self._write(payload)
        else:
            self.end_of_call(payload)

    def end_of_call(self, rest: bytes = b"") -> None:
        """Writes the rest and closes its stdin."""
        self._write(rest)
        with suppress(BrokenPipeError):
            self._stdin.close()

    def _write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            self._stdin.write(data)
            self._stdin.flush()

    @property
    def client(self) -> int:
        """The pid of the client below the guard in the shell."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return int(until(lambda: children.read_text().split(), "the client")[0])

    @property
    def waits(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.poll() is None

    def done(self) -> Finished:
        """How it ended, as the agent sees it."""
        _, err = self.process.communicate(timeout=PATIENCE_S)
        out = b""
        if self._out >= 0:
            with open(self._out, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
                out = file.read()
            self._out = -1
        return Finished(self.process.returncode, out, err)

    def end(self) -> None:
        """Leaves nothing of it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            self._stdin.close()
        with suppress(ValueError):
            self.process.communicate()
        if self._out >= 0:
            os.close(self._out)
            self._out = -1
