"""Has a core asked by processes of any shape, and reads what they were answered."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.e2e.identity import ask
from tests.e2e.programs import PIN, Core, until
from watchgate.service.system.process_table import ancestors

UNLOCK: dict[str, Any] = {"verb": "unlock", "pin": PIN}
PRESENCE: dict[str, Any] = {"verb": "presence"}
_NUMBERS = itertools.count()


def decision(request: dict[str, Any], decision: str, **more: Any) -> dict[str, Any]:
    """A decision as a console says it."""
    named = {"request": request["id"], "digest": request["digest"]}
    return {
        "verb": "decide",
        "decision": decision,
        "shown_ms": 9_000,
        "confirmed": True,
        **named,
        **more,
    }


class Asking:
    """One command that asks a core, and its answers."""

    def __init__(self, core: Core | Path, folder: Path, *requests: dict[str, Any]) -> None:
        """`core` may be the path of its control socket."""
        place = core if isinstance(core, Path) else core.runtime / "control.sock"
        self._out = folder / f"answers-{next(_NUMBERS)}"
        self.argv = [
            sys.executable,
            ask.__file__,
            str(place),
            str(self._out),
            *map(json.dumps, requests),
        ]

    @property
    def command(self) -> str:
        """The same for a shell."""
        return shlex.join(self.argv)

    def answers(self) -> list[dict[str, Any]]:
        """What the core answered, once it has."""
        text = until(lambda: self._out.read_text() if self._out.exists() else "", "answers")
        found: list[dict[str, Any]] = json.loads(text)
        return found

    def refused(self) -> list[str]:
        """The code of each refusal, empty for what was done."""
        return [each.get("refused", "") for each in self.answers()]


# Starts a shell at the terminal of file descriptor 0 that nobody of ours is above.
_ADOPTED = """
import fcntl, os, sys, termios
if os.fork():
    os._exit(0)
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
print(os.getpid(), flush=True)
os.dup2(0, 1)
os.dup2(0, 2)
os.execvp("sh", ["sh"])
"""


class Terminal:
    """A terminal with a shell, as a window of the desktop's is: none of the tests' is above it."""

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        starter = subprocess.run(
            [sys.executable, "-c", _ADOPTED], stdin=slave, stdout=subprocess.PIPE, check=True
        )
        os.close(slave)
        self._shell = int(starter.stdout)
        # The kernel tells starts by ticks: what comes next must be seen to be younger.
        ticks, (shell, *_) = os.sysconf("SC_CLK_TCK"), ancestors(self._shell)
        until(
            lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * ticks > int(shell.start) + 1,
            "a later tick",
        )

    def run(self, asking: Asking) -> Asking:
        """Has the shell run it."""
        self.type(asking.command)
        return asking

    def type(self, command: str) -> None:
        """Type a command into the shell."""
        os.write(self._master, f"{command}\n".encode())

    def runs(self, program: str) -> bool:
        """Whether the shell has a child that is this program."""
        below = Path(f"/proc/{self._shell}/task/{self._shell}/children").read_text().split()
        words = (Path(f"/proc/{pid}/cmdline").read_bytes() for pid in below)
        return any(each.startswith(program.encode() + b"\0") for each in words)

    def close(self) -> None:
        """Hang up."""
        os.close(self._master)
