"""One request over a plain socket, for commands that ask once and leave."""

from __future__ import annotations

import socket
from pathlib import Path

from watchgate.link.control_lines import ControlAnswer, CoreLost, LineReader, NoCore, request_line
from watchgate.link.protocol import Push, Request
from watchgate.link.socket_door import check_door, why_not

ANSWER_TIMEOUT_S = 10.0
_RECEIVE_BYTES = 256 * 1024


def call_once(
    path: Path, request: Request, *, timeout_s: float = ANSWER_TIMEOUT_S
) -> ControlAnswer:
    """Connects, asks, and returns the core's answer; `timeout_s` bounds every single wait.

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


def _answer(connection: socket.socket, reader: LineReader, number: int) -> ControlAnswer:
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
