"""A stand-in for ssh on this machine: it drops the options and the host and runs the command.

`STANDIN_HOSTS` is a directory with one directory per host, below which that host's core has its
runtime and state directories. Some names are hosts that fail in a way of their own.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

FAILS = {
    "locked": (255, "ana@locked: Permission denied (publickey,password)."),
    "stranger": (255, "Host key verification failed."),
    "bare": (127, "bash: line 1: watchgate: command not found"),
    "nowhere": (255, "ssh: Could not resolve hostname nowhere: Name or service not known"),
    "hostile": (255, "\x1b]0;owned\x07 red \u202e alert"),
    "mute": (1, ""),
}


def main(argv: list[str]) -> None:
    """Be the host that stands behind the options."""
    split = argv.index("--")
    host, command = argv[split + 1], argv[split + 2 :]
    log = os.environ.get("STANDIN_LOG")
    if log:
        Path(log).write_text(f"{os.getpid()}\n" + "\n".join(argv))
    if host in FAILS:
        code, words = FAILS[host]
        sys.stderr.write(f"{words}\n")
        raise SystemExit(code)
    if host == "silent":
        time.sleep(600)
    if host == "chatty":
        sys.stdout.write("Welcome to chatty!\n")
        sys.stdout.flush()
        time.sleep(600)
    places = Path(os.environ["STANDIN_HOSTS"]) / host
    names = {"RUNTIME": "run", "STATE": "state"}
    environment = {
        **os.environ,
        **{f"WATCHGATE_{name}_DIR": str(places / folder) for name, folder in names.items()},
    }
    assert command[0] == "watchgate"
    os.execve(sys.executable, [sys.executable, "-m", "watchgate", *command[1:]], environment)


if __name__ == "__main__":
    main(sys.argv[1:])
