"""A core's socket seen from outside: whose it is, and why it does not open."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from watchgate.link.control_lines import NoCore


def check_door(path: Path) -> None:
    """Raises `NoCore` unless there is a socket at `path` that belongs to this user.

    Whoever listens reads prompts and commands, and could show what was never asked.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise NoCore(path, why_not(error)) from error
    if not stat.S_ISSOCK(status.st_mode):
        raise NoCore(path, "what lies there is not a socket")
    if status.st_uid != os.geteuid():
        raise NoCore(path, f"the socket belongs to user {status.st_uid}, not to you")


def check_own_door(path: Path) -> None:
    """Raises `NoCore` as `check_door` does, and if another user can enter the socket's directory.

    Whoever could enter there could have put a socket in its place, and answered in the core's.
    """
    check_door(path)
    try:
        place = path.parent.lstat()
    except OSError as error:
        raise NoCore(path, why_not(error)) from error
    if place.st_uid != os.geteuid() or place.st_mode & 0o170077 != stat.S_IFDIR:
        raise NoCore(path, "its directory can be entered by others")


def why_not(error: OSError) -> str:
    """Returns the reason the socket could not be reached, in words."""
    if isinstance(error, FileNotFoundError):
        return "there is no socket"
    if isinstance(error, ConnectionRefusedError):
        return "the socket is left over and nobody listens"
    if isinstance(error, BlockingIOError):
        return "its queue of connections is full, it may hang"
    return error.strerror or str(error)
