"""Private places: directories that only this user can enter, and one core in each.

The errors of a core that may not start, for programs that start one elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

from watchgate.link.paths import Paths, SocketPathTooLongError, check_socket_path


class CannotServe(Exception):
    """The core refuses to start; the message names the fault and the mend."""


class AlreadyServed(CannotServe):
    """Another core has this place, or is about to."""


BACKLOG = 1024
LOGINS = Path("/run/user")
"""The folder in which the system makes one for each user who is logged in."""


class RuntimeDirError(Exception):
    """A place cannot be trusted or used; the message names the fault and the mend."""


class CoreRunningError(RuntimeDirError):
    """Another core already serves this runtime directory."""

    def __init__(self, runtime_dir: Path) -> None:
        super().__init__(
            f"a core is already running in {runtime_dir}: attach to it with `watchgate`, or end it "
            "with `watchgate stop`"
        )


def prepare_directories(paths: Paths) -> None:
    """Makes the runtime and state directories, or checks those that are there.

    Raises `RuntimeDirError` unless both are real directories of this user with mode 0700.
    """
    private_dir(paths.state_dir, variable="WATCHGATE_STATE_DIR")
    private_dir(paths.runtime_dir, variable="WATCHGATE_RUNTIME_DIR")


def private_dir(path: Path, *, variable: str) -> None:
    """Makes `path` with mode 0700, or raises `RuntimeDirError` for what is wrong with it."""
    login = path.parent
    if login.parent == LOGINS and login.name != str(os.geteuid()) and not login.exists():
        # Made by somebody else, it would keep its user's next session out of it.
        raise RuntimeDirError(
            f"{login} does not exist: it is made when its user logs in. Unset XDG_RUNTIME_DIR, or "
            f"set {variable} to a directory of your own"
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        status = path.lstat()
    except OSError as error:
        raise RuntimeDirError(
            f"{path} cannot be made ({error.strerror}): set {variable} to a directory of your own"
        ) from error
    if stat.S_ISLNK(status.st_mode):
        raise RuntimeDirError(
            f"{path} is a symbolic link, which can be pointed elsewhere: remove it, or set "
            f"{variable} to the directory itself"
        )
    if not stat.S_ISDIR(status.st_mode):
        raise RuntimeDirError(f"{path} is not a directory: move it away")
    if status.st_uid != os.geteuid():
        raise RuntimeDirError(
            f"{path} belongs to user {status.st_uid}, not to you: set {variable} to a directory of "
            "your own"
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode != 0o700:
        raise RuntimeDirError(
            f"{path} has mode {mode:04o} where 0700 is needed: run `chmod 700 {path}`"
        )


def check_config(path: Path) -> None:
    """Raises `RuntimeDirError` if anyone else could have written the file; none at all is fine."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise RuntimeDirError(f"{path} cannot be read: {error.strerror}") from error
    if status.st_uid not in (os.geteuid(), 0):
        raise RuntimeDirError(
            f"{path} belongs to user {status.st_uid}: copy it to a file of your own"
        )
    if status.st_mode & 0o022:
        mode = stat.S_IMODE(status.st_mode)
        raise RuntimeDirError(
            f"{path} can be written by others (mode {mode:04o}): run `chmod go-w {path}`"
        )


class RuntimeDir:
    """A core's claim on its runtime and state directories, for as long as the block runs.

    Entering raises `RuntimeDirError` for a place that is not private or whose state directory
    another core uses, `CoreRunningError` when another core has the runtime directory. The kernel
    ends the claim with the process, however that ends.
    """

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._bound: dict[Path, socket.socket] = {}
        self._lock = -1
        self._state = -1

    def __enter__(self) -> Self:
        prepare_directories(self._paths)
        self._lock = _locked(self._paths.core_lock)
        try:
            self._state = _claimed(self._paths.state_dir)
        except RuntimeDirError:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self.refuse()
        # Clients then say that no core runs, and not that one has died.
        for path in self._bound:
            path.unlink(missing_ok=True)
        os.close(self._state)
        os.close(self._lock)

    def bind(self, path: Path) -> socket.socket:
        """Returns a listening socket, whose file is removed at the end of the claim.

        Another time it gives one more of the same socket: whoever connects while none of those is
        open waits, until there is one or `refuse` is called.
        """
        if path not in self._bound:
            self._bound[path] = bind_listener(path)
        return self._bound[path].dup()

    def refuse(self) -> None:
        """Turns away clients that find none of the given sockets open."""
        for listener in self._bound.values():
            listener.close()


def bind_listener(path: Path) -> socket.socket:
    """Returns a listening socket at `path`, mode 0600; a stale one there is replaced.

    Raises `CoreRunningError` when somebody answers at the one that is there, `RuntimeDirError`
    for anything else in the way.
    """
    try:
        check_socket_path(path)
    except SocketPathTooLongError as error:
        raise RuntimeDirError(str(error)) from error
    _clear(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise RuntimeDirError(f"no socket can be made at {path}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def claim_holder(paths: Paths) -> str:
    """Returns in words which core holds a claim until it has written everything; "" without one.

    It may be one with another runtime directory that keeps its journal in the state directory.
    """
    for path, claim in ((paths.core_lock, _locked), (paths.state_dir, _claimed)):
        if not path.exists():
            continue
        try:
            os.close(claim(path))
        except RuntimeDirError as fault:
            return str(fault)
    return ""


def _locked(path: Path) -> int:
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise RuntimeDirError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise CoreRunningError(path.parent) from error
    return descriptor


def _claimed(state_dir: Path) -> int:
    """Locks the state directory: two cores would write one journal, each against the other."""
    try:
        descriptor = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RuntimeDirError(f"{state_dir} cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise RuntimeDirError(
            f"a core with another runtime directory keeps its journal in {state_dir}: end that "
            "one, or set WATCHGATE_STATE_DIR to a directory of this core's own"
        ) from error
    return descriptor


def _clear(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise RuntimeDirError(f"{path} is not a socket: move it away")
    if status.st_uid != os.geteuid():
        raise RuntimeDirError(f"{path} belongs to user {status.st_uid}: have it removed")
    with socket.socket(socket.AF_UNIX) as probe:
        # A full queue then fails at once; without a time-out the connect would wait for it.
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        except OSError as error:
            raise CoreRunningError(path.parent) from error
        else:
            raise CoreRunningError(path.parent)
