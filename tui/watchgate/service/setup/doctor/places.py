"""Directories, sockets and the configuration: do they exist, and are they private?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from watchgate.link.lines import LinkError, NoCore
from watchgate.link.once import call_once
from watchgate.link.paths import Paths
from watchgate.link.protocol import Refusal, Request
from watchgate.service.setup.doctor.check import Check

CORE = "core"
HELLO_TIMEOUT_S = 2.0
_START = "start one with `watchgate` or `watchgate serve`"


def check_places(places: Paths, *, fix: bool) -> list[Check]:
    """All of them; `fix` takes other users' rights away from what is ours."""
    return [
        private("runtime directory", places.runtime_dir, 0o700, fix=fix),
        private("state directory", places.state_dir, 0o700, fix=fix),
        private("journal", places.journal, 0o600, fix=fix),
        private("ingest socket", places.ingest_socket, 0o600, fix=fix),
        private("control socket", places.control_socket, 0o600, fix=fix),
        check_core(places),
    ]


def private(name: str, path: Path, mode: int, *, fix: bool = False) -> Check:
    """Whether a path is ours alone; one that does not exist yet is made when a core starts."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return Check(name, "ok", f"{path} does not exist yet; a core makes it")
    except OSError as error:
        return Check(name, "fail", f"{path}: {error.strerror}", "give the way to it back to you")
    if stat.S_ISLNK(status.st_mode):
        return Check(name, "fail", f"{path} is a symbolic link", f"rm {path}")
    if status.st_uid != os.geteuid():
        return Check(
            name,
            "fail",
            f"{path} belongs to user {status.st_uid}, not to you",
            "remove it as that user, or set WATCHGATE_RUNTIME_DIR to a directory of your own",
        )
    found = stat.S_IMODE(status.st_mode)
    if found == mode:
        return Check(name, "ok", f"{path} is private ({found:04o})")
    if fix:
        path.chmod(mode)
        return Check(name, "ok", f"{path} was {found:04o} and is now {mode:04o}")
    return Check(
        name,
        "fail",
        f"{path} has mode {found:04o} where {mode:04o} is needed",
        f"chmod {mode:o} {path}, or `watchgate doctor --fix`",
    )


def check_core(places: Paths) -> Check:
    """Whether a core answers; none is no fault, a silent one is."""
    try:
        answer = call_once(
            places.control_socket, Request(id=1, verb="hello"), timeout_s=HELLO_TIMEOUT_S
        )
    except NoCore as none:
        if places.control_socket.exists():
            return Check(CORE, "fail", str(none), f"end the old one, then {_START}")
        return Check(CORE, "warn", "no core runs: gates deny every acting call", _START)
    except LinkError as fault:
        return Check(CORE, "fail", str(fault), f"`watchgate stop`, then {_START}")
    if isinstance(answer, Refusal):
        return Check(
            CORE, "fail", f"the core refused to greet: {answer.message}", "`watchgate stop`"
        )
    hello = answer.ok["hello"]
    return Check(CORE, "ok", f"core {hello['core']} answers, profile {hello['profile']}")
