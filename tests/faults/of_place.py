"""Faults of the runtime directory, of what lies in it, and of the clock."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crash.small_disk import why_not
from tests.e2e.programs import until
from tests.faults.given import only_root
from tests.faults.trial import Trial
from tests.faults.words import Component, Fault, Gets, Harm, Strike, When, Where, healthy, held
from watchgate.client import REASONS

WRONG = REASONS[PermissionError]
SOMEBODY = 12_345
DAY_S = 86_400
FOREVER = "99999999999\n"
FULL = """mkdir -m 700 "$WATCHGATE_RUNTIME_DIR"
mount -t tmpfs -o size=65536,mode=700 tmpfs "$WATCHGATE_RUNTIME_DIR" || exit 77
cat /dev/zero > "$WATCHGATE_RUNTIME_DIR/filler" 2>/dev/null"""
OF, OF_CLOCK = Component.PLACE, Component.CLOCK
JUMPING = Where(flaw="jumps")


@contextmanager
def behind_a_link(trial: Trial) -> Iterator[None]:
    """The installed command leads through a symbolic link to the directory."""
    trial.world.start()
    link = trial.world.top / "link"
    link.symlink_to(trial.world.paths.runtime_dir)
    trial.socket = link / trial.world.paths.ingest_socket.name
    yield
    link.unlink()


def directory_mode(mode: int) -> Harm:
    """The directory of a running core gets another mode."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        trial.world.paths.runtime_dir.chmod(mode)
        yield
        trial.world.paths.runtime_dir.chmod(0o700)

    return harm


def owned(name: str) -> Harm:
    """A part of the runtime directory belongs to somebody else; `.` is the directory itself."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        path = trial.world.paths.runtime_dir / name
        os.chown(path, SOMEBODY, -1)
        yield
        os.chown(path, os.geteuid(), -1)

    return harm


@contextmanager
def a_file_instead(trial: Trial) -> Iterator[None]:
    """A file lies where the socket was."""
    trial.world.start()
    path = trial.world.paths.ingest_socket
    kept = path.rename(path.with_name("kept"))
    path.write_text('{"decision":"allow"}')
    yield
    kept.rename(path)


@contextmanager
def a_dead_socket_instead(trial: Trial) -> Iterator[None]:
    """A socket that nobody listens at lies where the core's was."""
    trial.world.start()
    path = trial.world.paths.ingest_socket
    kept = path.rename(path.with_name("kept"))
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
    yield
    kept.rename(path)


@contextmanager
def no_room(trial: Trial) -> Iterator[None]:
    """The directory is a disk of its own without any room, from before the core starts."""
    trial.world.start()
    apart = ["--mount"] if os.geteuid() == 0 else ["--mount", "--user", "--preserve-credentials"]
    trial.before = ["nsenter", "--target", str(trial.world.pid), *apart, "--"]
    yield


def removed(trial: Trial) -> None:
    """The directory is deleted, and the core, which nobody can reach any more, is stopped."""
    shutil.rmtree(trial.world.paths.runtime_dir)
    trial.world.signal(signal.SIGTERM)
    until(lambda: not trial.world.lives, "its end")


def off_switch(text: str, mode: int = 0o600, owner: int = -1) -> Harm:
    """A file lies where the off switch would be."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        trial.world.paths.off.write_text(text)
        trial.world.paths.off.chmod(mode)
        os.chown(trial.world.paths.off, owner, -1)
        yield
        trial.world.paths.off.unlink()

    return harm


@contextmanager
def linked_off_switch(trial: Trial) -> Iterator[None]:
    """The off switch is a symbolic link to a file that would be one."""
    trial.world.start()
    real = trial.world.top / "off"
    real.write_text(FOREVER)
    real.chmod(0o600)
    trial.world.paths.off.symlink_to(real)
    yield
    trial.world.paths.off.unlink()


def shut(what: str, harm: Harm, because: str = WRONG, *, root: bool = False) -> Fault:
    """A fault that keeps the hook away from the core."""
    return Fault(
        what=what,
        of=OF,
        observe=Gets.DROPPED,
        because=because,
        harm=harm,
        why_not=only_root if root else lambda: "",
    )


PLACE = (
    shut("is a symbolic link", behind_a_link),
    shut("has mode 0777", directory_mode(0o777)),
    shut("may be entered by its group", directory_mode(0o710)),
    shut("belongs to another user", owned("."), root=True),
    shut("its socket belongs to another user", owned("ingest.sock"), root=True),
    shut("its socket is a file", a_file_instead),
    shut("its socket is another, dead one", a_dead_socket_instead, REASONS[ConnectionRefusedError]),
    Fault(
        what="is deleted, then the core is stopped",
        of=OF,
        observe=Gets.DROPPED,
        because="the core was stopped",
        where=Where(alone=True),
        harm=healthy,
        strike=removed,
    ),
    held(
        OF,
        "the disk that it lies on is full",
        no_room,
        where=Where(mount=FULL, alone=True),
        why_not=why_not,
    ),
    held(
        OF, "an off switch of another user", off_switch(FOREVER, owner=SOMEBODY), why_not=only_root
    ),
    held(OF, "an off switch that others may write", off_switch(FOREVER, 0o666)),
    held(OF, "an off switch whose time is over", off_switch("1000\n")),
    held(OF, "an off switch of an earlier boot", off_switch("boot 0-0-0-0\n")),
    held(OF, "an off switch that is a symbolic link", linked_off_switch),
    held(OF, "an off switch with garbage in it", off_switch("until I say so")),
)


def jumps(wall_s: int, mono_s: int = 0) -> Strike:
    """The core's clock is off by so much from now on."""

    def strike(trial: Trial) -> None:
        file = Path(trial.world.env["WATCHGATE_TEST_CLOCK"])
        part = file.with_name("clock.new")
        part.write_text(f"{wall_s} {mono_s}")
        part.rename(file)

    return strike


@contextmanager
def on_time(trial: Trial) -> Iterator[None]:
    """The clock is right again after all have their answer."""
    trial.world.start()
    yield
    Path(trial.world.env["WATCHGATE_TEST_CLOCK"]).unlink()


CLOCK = (
    held(OF_CLOCK, "the wall clock jumps a day on", on_time, jumps(DAY_S), where=JUMPING),
    held(OF_CLOCK, "the wall clock jumps a day back", on_time, jumps(-DAY_S), where=JUMPING),
    Fault(
        what="the machine sleeps for a day",
        of=OF_CLOCK,
        when=When.TIME_UP,
        because="Nobody answered",
        where=JUMPING,
        harm=on_time,
        strike=jumps(DAY_S, DAY_S),
    ),
)
