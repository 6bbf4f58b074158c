"""Faults of the core: it is gone, hangs, fails, or lacks what it needs to run."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.e2e.programs import until
from tests.faults.trial import Trial
from tests.faults.words import Component, Fault, Gets, Strike, When, Where, healthy, held
from tests.faults.world import ROOT
from watchgate.client import REASONS

GONE, LATE = REASONS[ConnectionError], REASONS[TimeoutError]
BACKLOG = 1024
OF = Component.CORE


@contextmanager
def never_started(trial: Trial) -> Iterator[None]:
    """There is no core, and no socket."""
    trial.world.bury()
    trial.world.paths.ingest_socket.unlink(missing_ok=True)
    yield


@contextmanager
def killed_before(trial: Trial) -> Iterator[None]:
    """A core was killed and left its socket."""
    trial.world.start()
    trial.world.bury()
    yield


@contextmanager
def stopped_before(trial: Trial) -> Iterator[None]:
    """The core hangs when it is asked, and goes on after all have their answer."""
    trial.world.start()
    trial.world.signal(signal.SIGSTOP)
    yield
    trial.world.signal(signal.SIGCONT)


@contextmanager
def full_backlog(trial: Trial) -> Iterator[None]:
    """The core hangs, and so many connections wait for it that the kernel takes no more."""
    trial.world.start()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * BACKLOG, limits[1]), limits[1]))
    trial.world.signal(signal.SIGSTOP)
    with ExitStack() as stack:
        with suppress(BlockingIOError):
            while True:
                peer = stack.enter_context(socket.socket(socket.AF_UNIX))
                peer.setblocking(False)
                peer.connect(str(trial.world.paths.ingest_socket))
        yield
    trial.world.signal(signal.SIGCONT)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def cannot_fill() -> str:
    """Why no backlog can be filled here."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return "" if hard > 2 * BACKLOG else f"only {hard} descriptors may be open"


@contextmanager
def no_descriptors(trial: Trial) -> Iterator[None]:
    """The core may open nothing more, until all have their answer."""
    trial.world.start()
    pid = trial.world.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, before[1]))
    yield
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


@contextmanager
def no_memory(trial: Trial) -> Iterator[None]:
    """The core may take no memory beyond what it has; the calls are large."""
    trial.world.start()
    used = Path(f"/proc/{trial.world.pid}/statm").read_text().split()[0]
    limit = int(used) * resource.getpagesize()
    resource.prlimit(trial.world.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    trial.payload = lambda whole: whole.replace(b'"cwd"', b'"x":"' + b"x" * (3 << 20) + b'","cwd"')
    yield
    trial.world.bury()


@contextmanager
def speaks_otherwise(trial: Trial) -> Iterator[None]:
    """Something else of this user listens at the socket, and answers."""
    trial.world.start()
    trial.world.bury()
    trial.world.paths.ingest_socket.unlink()
    path = str(trial.world.paths.ingest_socket)
    with subprocess.Popen([sys.executable, "-c", STRANGER, path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield
        finally:
            other.kill()  # it would be waited for without end


STRANGER = """
import contextlib, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
print("ready", flush=True)
while True:
    peer, _ = listener.accept()
    with contextlib.suppress(OSError):
        peer.recv(1 << 20)
        peer.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n{\\"decision\\":\\"allow\\"}")
    peer.close()
"""


def gets(*numbers: signal.Signals) -> Strike:
    """The core gets these signals, one after the other."""

    def strike(trial: Trial) -> None:
        for number in numbers:
            trial.world.signal(number)

    return strike


def ends_by(number: signal.Signals) -> Strike:
    """The core ends by a signal, and is waited for."""

    def strike(trial: Trial) -> None:
        trial.world.signal(number)
        until(lambda: not trial.world.lives, "its end")

    return strike


@contextmanager
def hangs_later(trial: Trial) -> Iterator[None]:
    """A core that will go on once all have their answer."""
    trial.world.start()
    yield
    trial.world.signal(signal.SIGCONT)


def another_core(trial: Trial) -> None:
    """A second core is started in the same place."""
    command = [sys.executable, "-m", "watchgate", "serve"]
    second = subprocess.run(command, cwd=ROOT, env=trial.world.env, capture_output=True)
    assert second.returncode == 1
    assert b"already running" in second.stderr


CORE = (
    Fault(
        what="not running",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[FileNotFoundError],
        harm=never_started,
    ),
    Fault(
        what="killed before (SIGKILL); its socket is left",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[ConnectionRefusedError],
        harm=killed_before,
    ),
    Fault(
        what="killed while it holds the call (SIGKILL)",
        of=OF,
        observe=Gets.DROPPED,
        because=GONE,
        harm=healthy,
        strike=ends_by(signal.SIGKILL),
    ),
    Fault(
        what="told to stop while it holds the call (SIGTERM)",
        of=OF,
        observe=Gets.DROPPED,
        because="the core was stopped",
        harm=healthy,
        strike=ends_by(signal.SIGTERM),
    ),
    held(OF, "its terminal closes (SIGHUP)", strike=gets(signal.SIGHUP)),
    Fault(
        what="hangs before it is asked (SIGSTOP)",
        of=OF,
        when=When.DEADLINE,
        because=LATE,
        harm=stopped_before,
    ),
    Fault(
        what="hangs while it holds the call (SIGSTOP)",
        of=OF,
        when=When.DEADLINE,
        because=LATE,
        harm=hangs_later,
        strike=gets(signal.SIGSTOP),
        deadline_s=4,
    ),
    held(
        OF,
        "hangs for a while and goes on (SIGSTOP, SIGCONT)",
        strike=gets(signal.SIGSTOP, signal.SIGCONT),
    ),
    Fault(
        what="hangs, and its backlog is full",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[BlockingIOError],
        harm=full_backlog,
        why_not=cannot_fill,
    ),
    Fault(
        what="fails over the call",
        of=OF,
        because="an internal error",
        where=Where(flaw="fails-over-calls"),
        harm=healthy,
    ),
    Fault(
        what="one of its tasks crashes",
        of=OF,
        observe=Gets.DROPPED,
        because=GONE,
        where=Where(flaw="crashes", alone=True),
        harm=healthy,
        strike=ends_by(signal.SIGUSR1),
    ),
    Fault(
        what="has no descriptor left",
        of=OF,
        when=When.DEADLINE,
        because=LATE,
        harm=no_descriptors,
    ),
    Fault(
        what="has no memory left",
        of=OF,
        observe=Gets.PERHAPS,
        where=Where(alone=True),
        harm=no_memory,
    ),
    held(OF, "a second one is started beside it", strike=another_core),
    Fault(
        what="something else answers at its socket",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[ValueError],
        harm=speaks_otherwise,
    ),
)
