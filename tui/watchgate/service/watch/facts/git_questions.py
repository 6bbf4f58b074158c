"""Asks git about a repository without letting the repository run anything.

A repository's own settings can name programs that even a read-only command starts (filters, a
file system monitor, diff drivers, hooks). Whoever may write files there could have set them. So
settings are listed first, which starts nothing; where one of those is set, git is not asked any
further.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence

import anyio

# Git LFS is a filter that many users have for all their repositories; it runs what these name.
_RUNS = re.compile(
    r"(?i)^(?:filter\..*|diff\.(?:external|.*\.(?:command|textconv))|core\.(?:fsmonitor|sshcommand"
    r"|gitproxy|askpass|alternaterefscommand)|extensions\.partialclone|remote\..*\.promisor"
    r"|lfs\.(?:extension\..*|customtransfer\..*|standalonetransferagent)"
    r"|gpg\..*program|trace2\..*|include(?:if)?\..*)$"
)
_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "diff.external=",
    "-c",
    "protocol.allow=never",
    "-c",
    "submodule.recurse=false",
    "-c",
    "log.showSignature=false",
)
_MAX_BYTES = 4_000_000


class GitQuestions:
    """Read-only questions to the repository that holds a folder; built by `open_repository`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    async def lines(self, *args: str) -> list[str] | None:
        """Returns the lines that git answers; None where it refuses."""
        answer = await self.text(*args)
        return None if answer is None else answer.splitlines()

    async def text(self, *args: str) -> str | None:
        """Returns git's answer; None where it refuses."""
        return await _run(self._folder, args)


async def open_repository(folder: str) -> GitQuestions | str:
    """Returns the repository at a folder, or why it is not asked: empty where there is none."""
    if await _run(folder, ("rev-parse", "--git-dir")) is None:
        return ""
    for scope in ("--local", "--worktree"):
        names = await _run(
            folder, ("config", scope, "--no-includes", "--name-only", "-z", "--list")
        )
        if names is None and scope == "--local":
            return "its repository's settings cannot be read"
        settings = (names or "").split("\0")
        if risky := next((name for name in settings if _RUNS.match(name)), None):
            return f"its repository has {risky} set, which runs a program"
    return GitQuestions(folder)


async def _run(folder: str, args: Sequence[str]) -> str | None:
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "LD_", "DYLD_"))
    }
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # Settings of the repository can allow single protocols again; this overrules them.
    env |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    try:
        done = await anyio.run_process(
            ["git", *_OPTIONS, *args],
            cwd=folder,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    if done.returncode or len(done.stdout) > _MAX_BYTES:
        return None
    return done.stdout.decode(errors="replace")
