"""One request over a plain socket, for commands that ask once and leave.

A core's socket seen from outside: whose it is, and why it does not open.
"""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from watchgate.link.control_lines import Answer, CoreLost, LineReader, NoCore, request_line
from watchgate.link.protocol import Push, Request


def check_door(path: Path) -> None:
    """Raise `NoCore` unless there is a socket at `path` that belongs to this user.

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
    """As `check_door`, and raise `NoCore` unless only this user can enter the socket's directory.

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
    """Return why the socket could not be reached, in words."""
    if isinstance(error, FileNotFoundError):
        return "there is no socket"
    if isinstance(error, ConnectionRefusedError):
        return "the socket is left over and nobody listens"
    if isinstance(error, BlockingIOError):
        return "its queue of connections is full, it may hang"
    return error.strerror or str(error)


ANSWER_TIMEOUT_S = 10.0
_RECEIVE_BYTES = 256 * 1024


def call_once(path: Path, request: Request, *, timeout_s: float = ANSWER_TIMEOUT_S) -> Answer:
    """Connect, ask, and return the core's answer; `timeout_s` bounds every single wait.

    Raises `NoCore` when nobody could be asked, `CoreLost` when no answer came to what was asked.
    """
    check_door(path)
    reader = LineReader()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        try:
            connection.connect(str(path))
            while reader.hello(_more(connection)) is None:
                pass
        except TimeoutError as error:
            raise NoCore(path, f"it did not greet within {timeout_s:g} s, it may hang") from error
        except OSError as error:
            raise NoCore(path, why_not(error)) from error
        except CoreLost as lost:
            raise NoCore(path, lost.reason) from lost
        try:
            connection.sendall(request_line(request))
            return _answer(connection, reader, request.id)
        except TimeoutError as error:
            raise CoreLost(f"no answer within {timeout_s:g} s") from error
        except OSError as error:
            raise CoreLost(why_not(error)) from error


def _answer(connection: socket.socket, reader: LineReader, number: int) -> Answer:
    chunk = b""
    while True:
        for line in reader.feed(chunk):
            if not isinstance(line, Push) and line.id == number:
                return line
        chunk = _more(connection)


def _more(connection: socket.socket) -> bytes:
    chunk = connection.recv(_RECEIVE_BYTES)
    if not chunk:
        raise ConnectionResetError(None, "it closed the connection")
    return chunk
