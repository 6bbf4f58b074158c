"""A stand-in for an agent: hook clients and other commands run below it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.e2e.programs import Core

# Stands for an agent: each line on its stdin is a command to start, with the stdin to give it.
# A hook client runs on; of any other command the end is reported.
STAND_IN = """
import json, subprocess, sys
pipe = subprocess.PIPE
for line in sys.stdin:
    argv, text, waits = json.loads(line)
    child = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    if waits:
        out, err = child.communicate(text)
        print(json.dumps([child.returncode, out, err]), flush=True)
    else:
        hook = child
        hook.stdin.write(text)
        hook.stdin.close()
hook.kill()
hook.wait()
"""


class Agent:
    """A stand-in for an agent, and what it starts."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.process = subprocess.Popen(
            [sys.executable, "-c", STAND_IN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _start(self, argv: list[str], text: str, *, waits: bool) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([argv, text, waits]) + "\n")
        self.process.stdin.flush()

    def hook(self, payload: dict[str, Any]) -> None:
        self._start(self._core.client("PreToolUse"), json.dumps(payload), waits=False)

    def run(self, *args: str, shell: bool = False) -> tuple[int, str]:
        """Exit code and stderr of a `watchgate` command that the agent starts."""
        argv = [sys.executable, "-m", "watchgate", *args]
        if shell:
            argv = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv]
        self._start(argv, "", waits=True)
        assert self.process.stdout is not None
        code, _, err = json.loads(self.process.stdout.readline())
        return code, err

    def stdio(self, *requests: dict[str, Any]) -> list[dict[str, Any]]:
        """The answers to requests that a `watchgate stdio` of the agent's passes on."""
        lines = "".join(json.dumps({"id": 1, **each}) + "\n" for each in requests)
        self._start([sys.executable, "-m", "watchgate", "stdio"], lines, waits=True)
        assert self.process.stdout is not None
        code, out, err = json.loads(self.process.stdout.readline())
        assert code == 0, err
        return [each for each in map(json.loads, out.splitlines()) if "id" in each]

    def begin(self, *argv: str) -> None:
        """A command that the agent starts and does not wait for."""
        self._start(list(argv), "", waits=False)

    def start(self, *argv: str) -> None:
        """A command that the agent starts and waits for, in a session of its own."""
        self._start(["setsid", *argv], "", waits=True)
        assert self.process.stdout is not None
        assert json.loads(self.process.stdout.readline())[0] == 0

    def end(self) -> None:
        self.process.communicate()
