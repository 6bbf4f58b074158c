"""Builds the `Sink` of each `[[sink]]` of the configuration.

- Appends lines to a file: one write for the lines of one record, opened anew for each batch. Opened
  anew, so that a file that was moved away by a log rotation is made again.
- Prints lines on stdout, which has to be nobody else's (CW-15).
- Writes lines to a Unix socket over one connection that is kept. A kept connection cannot tell a
  reader that is slow from one that hangs but by time: one that takes nothing for 5 s is left, and
  what waits is offered to its successor.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import anyio

from watchgate.core.config import config_sections
from watchgate.core.dispatch.handler_config import SinkConfig
from watchgate.link.control_lines import NoCore
from watchgate.link.paths import SOCKET_PATH_MAX_BYTES
from watchgate.link.socket_door import check_door, why_not
from watchgate.service.identity.ancestry import credentials
from watchgate.service.sinks.delivery import Delivery, DeliveryThread, Done, Undelivered
from watchgate.service.sinks.record_lines import Wrap, as_bare_codewhale, as_codewhale, as_record
from watchgate.service.sinks.sink import Sink
from watchgate.service.sinks.webhook import Webhook

STDOUT = 1


class Stdout:
    """Writes to a descriptor; one that nobody reads keeps only this sink's thread waiting."""

    at_once = 256
    mend = "let something read what the core prints, or use a jsonl sink"

    def __init__(self, descriptor: int = STDOUT) -> None:
        self._descriptor = descriptor
        self._thread = DeliveryThread("watchgate stdout sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Prints the entries; raises `Undelivered`."""
        sent, why = await self._thread.do(lambda: _print(self._descriptor, entries))
        if why:
            raise Undelivered(why, then="drop-all", sent=sent)

    def close(self) -> None:
        """Leaves stdout open: it was there before."""


def _print(descriptor: int, entries: Sequence[bytes]) -> Done:
    sent = 0
    try:
        for entry in entries:
            left = memoryview(entry)
            while left:
                left = left[os.write(descriptor, left) :]
            sent += 1
    except OSError as error:
        return sent, f"stdout: {error.strerror or error}"
    return sent, ""


# Without O_NONBLOCK opening a pipe that nobody reads would wait for a reader.
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


class Jsonl:
    """A file of the user's own; made with mode 0600, its folders with 0700, when first needed."""

    at_once = 256
    mend = "make room, or give it a path that you may write to"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = DeliveryThread("watchgate jsonl sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Appends the entries; raises `Undelivered`."""
        sent, why = await self._thread.do(lambda: append_lines(self._path, entries))
        if why:
            raise Undelivered(why, then="retry", sent=sent)

    def close(self) -> None:
        """Does nothing: nothing is held between batches."""


def append_lines(path: Path, entries: Sequence[bytes]) -> Done:
    """Appends each entry with one write; an earlier line that was cut short is ended first."""
    sent = 0
    try:
        _make_folders(path)
        file = os.open(path, _OPEN, 0o600)
        try:
            if fault := _not_ours(file):
                return 0, f"{path}: {fault}"
            _lock(file)
            _end_cut_line(file)
            for entry in entries:
                _write(file, entry)
                sent += 1
        finally:
            os.close(file)
    except OSError as error:
        return sent, f"{path}: {error.strerror or error}"
    return sent, ""


def _make_folders(path: Path) -> None:
    for folder in reversed([one for one in path.parents if not one.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def _not_ours(file: int) -> str:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}, who could read what agents do"
    return ""


def _lock(file: int) -> None:
    # A write grows the file page by page: without a lock, what another core is just writing looks
    # like a line cut short. Released by closing; file systems without locks do without.
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)


def _end_cut_line(file: int) -> None:
    size_bytes = os.fstat(file).st_size
    if size_bytes and os.pread(file, 1, size_bytes - 1) != b"\n":
        _write(file, b"\n")


def _write(file: int, data: bytes) -> None:
    written = os.write(file, data)
    try:
        while written < len(data):
            written += os.write(file, data[written:])
    except OSError:
        # The disk is full: half a line must not stay, unless somebody else wrote behind it.
        size_bytes = os.fstat(file).st_size
        if os.pread(file, written, size_bytes - written) == data[:written]:
            os.ftruncate(file, size_bytes - written)
        raise


CONNECT_S = 1.0
BLOCKED_S = 5.0
KNOCK_S = 0.02


class UnixSocket:
    """A socket of this user's own; that nobody listens there is no trouble (CW-7)."""

    at_once = 64
    mend = "let its reader read, or remove the sink"

    def __init__(
        self, path: Path, *, connect_s: float = CONNECT_S, blocked_s: float = BLOCKED_S
    ) -> None:
        self._path = path
        self._connect_s = connect_s
        self._blocked_s = blocked_s
        self._connection: socket.socket | None = None

    async def send(self, entries: Sequence[bytes]) -> None:
        """Sends the entries, connecting where needed; raises `Undelivered`."""
        sent = 0
        while sent < len(entries):
            fresh = self._connection is None
            connection = self._connection or await self._connect(sent)
            try:
                while sent < len(entries):
                    await self._write(connection, entries[sent], sent)
                    sent += 1
            except OSError as error:
                self.close()
                if fresh:
                    why = f"{self._path}: {error.strerror or error}"
                    raise Undelivered(why, then="retry", sent=sent) from error

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _connect(self, sent: int) -> socket.socket:
        if not hasattr(socket, "AF_UNIX"):
            raise Undelivered(
                "this platform has no Unix sockets", then="drop-all", sent=sent, quiet=True
            )
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)
            await self._knock(connection, sent)
            self._connection = connection
        finally:
            if self._connection is None:
                connection.close()
        return connection

    async def _knock(self, connection: socket.socket, sent: int) -> None:
        try:
            check_door(self._path)
            with anyio.move_on_after(self._connect_s) as limit:
                while not _connected(connection, self._path):  # noqa: ASYNC110 - nothing wakes us
                    await anyio.sleep(KNOCK_S)
            if limit.cancelled_caught:
                why = f"{self._path}: its queue of connections is full, its reader may hang"
                raise Undelivered(why, then="retry", sent=sent)
            uid = credentials(connection).uid
        except NoCore as fault:
            raise self._unreached(fault.why, fault.__cause__, sent) from fault
        except OSError as error:
            raise self._unreached(why_not(error), error, sent) from error
        if uid != os.geteuid():
            why = f"{self._path}: user {uid} listens there, not you"
            raise Undelivered(why, then="drop-all", sent=sent)

    def _unreached(self, why: str, cause: BaseException | None, sent: int) -> Undelivered:
        absent = isinstance(cause, FileNotFoundError | ConnectionRefusedError)
        return Undelivered(f"{self._path}: {why}", then="drop-all", sent=sent, quiet=absent)

    async def _write(self, connection: socket.socket, entry: bytes, sent: int) -> None:
        left = memoryview(entry)
        while left:
            try:
                left = left[connection.send(left) :]
            except BlockingIOError:
                with anyio.move_on_after(self._blocked_s) as limit:
                    await anyio.wait_writable(connection)
                if limit.cancelled_caught:
                    self.close()
                    why = f"{self._path}: its reader took nothing for {self._blocked_s:g} s"
                    raise Undelivered(why, then="retry", sent=sent) from None


def _connected(connection: socket.socket, path: Path) -> bool:
    # A full queue of connections is a reader that is late, not one that is absent.
    with suppress(BlockingIOError):
        connection.connect(str(path))
        return True
    return False


class SinkError(ValueError):
    """A sink cannot be made; the message says which and how to mend it."""


def build_sink(config: SinkConfig, index: int, own: Sequence[Path] = ()) -> Sink:
    """Builds the sink that is described at `index`; raises `SinkError`.

    `own` are this core's files and sockets: a sink that led back into the core would feed itself.
    """
    place = config.path or _host(config.url) or ""
    name = f"[[sink]] {index + 1} ({' '.join(filter(None, (config.type, place)))})"
    fault = config_sections.sink_fault(config) or _path_fault(config, own)
    if fault:
        raise SinkError(f"{name}: {fault}")
    return Sink(
        name, config.kinds, _wrap(config), _DELIVERIES[config.type](config), queue=config.queue
    )


def _wrap(config: SinkConfig) -> Wrap:
    if config.envelope == "record":
        return as_record
    return as_bare_codewhale if config.type == "stdout" else as_codewhale


def _path(config: SinkConfig) -> Path:
    return Path(config.path or "").expanduser()


def _path_fault(config: SinkConfig, own: Sequence[Path]) -> str | None:
    if config.path is None:
        return None
    path = _path(config)
    if path.resolve() in {one.resolve() for one in own}:
        return f"{path} is this core's own, which would be fed with what it records for ever"
    size_bytes = len(bytes(path))
    if config.type == "unix-socket" and size_bytes > SOCKET_PATH_MAX_BYTES:
        return (
            f"the socket path {path} has {size_bytes} bytes, the platform takes "
            f"{SOCKET_PATH_MAX_BYTES}: use a shorter one"
        )
    return None


def _host(url: str | None) -> str | None:
    # The rest of a URL often holds a token.
    return url and "/".join(url.split("/", 3)[:3]).rpartition("@")[2]


_DELIVERIES: dict[str, Callable[[SinkConfig], Delivery]] = {
    "stdout": lambda _: Stdout(),
    "jsonl": lambda config: Jsonl(_path(config)),
    "webhook": lambda config: Webhook(config.url or ""),
    "unix-socket": lambda config: UnixSocket(_path(config)),
}
