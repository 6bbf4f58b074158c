"""What the hook is given: its descriptors, its call, its user, and what others send beside it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.faults.trial import Trial
from tests.faults.words import Harm

BEGUN = 20
HALF = b"watchgate/1 claude gate\nevent: PreToolUse\nlength: 100\n\n{"
OTHERS_PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin") or ""
"""One that every user of this machine can run."""
ONE_PROCESS = ("prlimit", "--nproc=1:1")
ANOTHER = ("setpriv", "--reuid=12345", "--clear-groups")
AS_ROOT, UNMAPPED = ("unshare", "--user", "--map-root-user"), ("unshare", "--user")
RENUMBERED = ("unshare", "--user", "--map-user=12345")


@contextmanager
def open_stdin(trial: Trial) -> Iterator[None]:
    """The agent writes half of a call, and never ends it."""
    trial.world.start()
    trial.keeps_open = True
    trial.payload = lambda whole: whole[: len(whole) // 2]
    yield


@contextmanager
def slow_stdin(trial: Trial) -> Iterator[None]:
    """The call comes in two parts."""
    trial.world.start()
    trial.keeps_open = True
    trial.payload = lambda whole: whole[:BEGUN]
    yield


def the_rest(trial: Trial) -> None:
    """Nothing is held yet; then each gets the rest of its call."""
    for lane, hook in trial.hooks.items():
        assert trial.world.held(trial.session(lane)) is None
        hook.end_of_call(trial.whole(lane)[BEGUN:])


def started_by(*before: str) -> Harm:
    """The hook is started by this."""

    def harm(trial: Trial) -> ExitStack:
        trial.world.start()
        trial.before = [*before]
        return ExitStack()

    return harm


def started_with(redirection: str) -> Harm:
    """The agent starts the hook without a descriptor."""
    return started_by("/bin/sh", "-c", f'exec "$@" {redirection}', "sh")


@contextmanager
def nobody_reads_stdout(trial: Trial) -> Iterator[None]:
    """The agent has closed its end of the pipe."""
    trial.world.start()
    trial.deaf = True
    yield


def payload(change: Callable[[bytes], bytes]) -> Harm:
    """The call is another one than the agent should send."""

    def harm(trial: Trial) -> ExitStack:
        trial.world.start()
        trial.payload = change
        return ExitStack()

    return harm


def another_user(*apart: str) -> Harm:
    """The hook runs as somebody else, `apart` from the rest, and can read its own file."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        theirs = Path(trial.world.top, "theirs")
        theirs.mkdir(mode=0o755, exist_ok=True)
        trial.world.top.chmod(0o711)
        for name in (trial.world.paths.client, trial.world.paths.client_module):
            (theirs / name.name).write_bytes(name.read_bytes())
        trial.script = theirs / trial.world.paths.client.name
        trial.python = OTHERS_PYTHON
        trial.before = [*ANOTHER, *apart]
        yield
        trial.world.top.chmod(0o700)

    return harm


@contextmanager
def no_more_processes(trial: Trial) -> Iterator[None]:
    """The user of the hook has as many processes as they may; for root that is another user."""
    with another_user()(trial):
        trial.before = [*(ANOTHER if os.geteuid() == 0 else ()), *ONE_PROCESS]
        yield


def no_limit_for_another() -> str:
    """Why no limit of processes can stop a hook here."""
    missing = "" if shutil.which(ONE_PROCESS[0]) else f"no {ONE_PROCESS[0]}"
    return missing or (cannot_be_another() if os.geteuid() == 0 else "")


def only_root() -> str:
    """Why nothing can be made somebody else's here."""
    return "" if os.geteuid() == 0 else "only root can be or make somebody else"


def cannot_be_another() -> str:
    """Why no hook can run as somebody else here."""
    if refused := only_root():
        return refused
    return "" if OTHERS_PYTHON and shutil.which("setpriv") else "no setpriv, or no python3 for all"


def no_namespace_for_another() -> str:
    """Why no hook can run as somebody else in a user namespace here."""
    return cannot_be_another() or _refused(*ANOTHER, *AS_ROOT)


def no_namespace() -> str:
    """Why no hook can run in a user namespace of this user here."""
    return _refused(*RENUMBERED)


def _refused(*apart: str) -> str:
    if shutil.which(apart[0]) is None:
        return f"no {apart[0]}"
    tried = subprocess.run([*apart, "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else tried.stderr.strip() or "no user namespaces"


@contextmanager
def half_frames(trial: Trial) -> Iterator[None]:
    """Others of this user have begun frames and say no more."""
    trial.world.start()
    with ExitStack() as stack:
        for begun in (b"", b"w", b"watchgate/1 claude gate\nlen", HALF, b'{"watchgate":1'):
            for _ in range(10):
                peer = stack.enter_context(socket.socket(socket.AF_UNIX))
                peer.connect(str(trial.world.paths.ingest_socket))
                peer.sendall(begun)
        yield


@contextmanager
def garbage_frames(trial: Trial) -> Iterator[None]:
    """Others send what is no frame; each is answered closed and changes nothing for the rest."""
    trial.world.start()
    for sent in (b"\x00" * 99, b"GET / HTTP/1.1\r\n\r\n\n\n", b"x" * 20_000, HALF):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(60)
            peer.connect(str(trial.world.paths.ingest_socket))
            with suppress(OSError):
                peer.sendall(sent)
                peer.shutdown(socket.SHUT_WR)
            assert peer.recv(65_536)[:2] in (b"2 ", b"")
    yield
