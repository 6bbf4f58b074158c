"""A core's surroundings: the parts of the machine and its user that the core cannot decide.

- A line to the machine's log at each session's end: an anchor that only root can take back.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import Final, Protocol

import msgspec

from watchgate.agents.usage import UsagePlace, usage_places
from watchgate.core.base.ids import request_id
from watchgate.core.base.text import safe_text
from watchgate.core.chain.chain_walk import anchor_text
from watchgate.core.chain.hash_chain import Head
from watchgate.core.model.records import Draft, Record
from watchgate.link.paths import Paths
from watchgate.service.identity.ancestry import agent_of
from watchgate.service.system.process_table import PROC, Proc, ancestors

SYSTEM_LOG: Final = Path("/dev/log")
_PRIORITY: Final = SysLogHandler.LOG_AUTHPRIV << 3 | SysLogHandler.LOG_INFO
_NAME_CHARS: Final = 64


class AnchoredJournal(Protocol):
    """The journal, as far as an anchor needs it."""

    @property
    def path(self) -> Path:
        """The database."""
        ...

    def commit(self, callback: Callable[[bool], object]) -> None:
        """Calls back with whether everything appended so far is on disk; from any thread."""
        ...


class AnchorLines:
    """Sends the anchor of a session's last record to a log's datagram socket at `address`.

    It is a watcher of the recorder. A line is sent when its record is on the disk, and never waits:
    without a socket, or where the log takes no more, there is none. Sessions that end while a
    record is being written share the next line.
    """

    def __init__(self, journal: AnchoredJournal, address: Path) -> None:
        self._journal = journal
        self._address = str(address)
        self._lock = threading.Lock()
        self._newest: Record | None = None
        self._writing: Record | None = None

    def offer(self, record: Record) -> None:
        """Takes a record; the end of a session gets an anchor."""
        if record.kind != "session.end" or record.sub is not None:
            return
        with self._lock:
            self._newest = record
            if self._writing is None:
                self._write(record)

    def _write(self, record: Record) -> None:
        self._writing = record
        self._journal.commit(lambda done: self._on_write_done(record, done=done))

    def _on_write_done(self, record: Record, *, done: bool) -> None:
        """Sends the line, then writes the newest that waits; runs in the journal's thread."""
        if done:
            self._send(record)
        with self._lock:
            newest, self._writing = self._newest, None
            if newest is not None and newest is not record:
                self._write(newest)

    def _send(self, record: Record) -> None:
        name = safe_text(f"{record.agent}:{record.session}")[:_NAME_CHARS]
        anchor = anchor_text(Head(record.seq, record.hash))
        line = f"anchor {anchor} of {self._journal.path}: session {name} ended"
        message = f"<{_PRIORITY}>watchgate[{os.getpid()}]: {line}".encode(errors="replace")
        # A log that is not there, or full, stops nothing: the journal stands without it.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
            log.setblocking(False)
            log.connect(self._address)
            log.send(message)


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """A core's surroundings: ids, the home folder, its own files, and the agent above a peer.

    Clients below the process `own_pid` may not allow. `proc` is where the system shows the agents
    that run; None: nobody looks. `usage_places` are where agents keep files about usage. `counted`
    yields usage records in their place, as a demo does. `scripted` says that the sessions are a
    script's: no agent runs that could stand behind an operator. `system_log` is the socket of the
    machine's log, which gets anchors of the journal; None: none are sent.
    """

    ids: Callable[[], str]
    home: str
    protected: tuple[str, ...]
    agent_of: Callable[[int], Proc | None]
    own_pid: int = 0
    scripted: bool = False
    proc: Path | None = None
    places: tuple[UsagePlace, ...] = ()
    counted: Callable[[], AsyncIterator[Draft]] | None = None
    system_log: Path | None = None


def real_environment(paths: Paths) -> Environment:
    """Returns this machine's surroundings: random ids, the user's home, the kernel's processes."""
    own = [paths.runtime_dir, paths.state_dir, paths.config.parent, paths.data_dir]
    own += [path.resolve() for path in own]
    return Environment(
        ids=lambda: request_id(secrets.token_bytes(16)),
        home=str(Path.home()),
        protected=tuple(dict.fromkeys(str(path) for path in own)),
        agent_of=lambda pid: agent_of(ancestors(pid)),
        own_pid=os.getpid(),
        proc=PROC,
        places=usage_places(os.environ, str(Path.home())),
        system_log=SYSTEM_LOG,
    )
