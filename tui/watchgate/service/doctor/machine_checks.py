"""Checks this machine: directories, sockets, disk, core, shell parser, PIN and terminal."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from watchgate.core.base import decoding
from watchgate.core.policy.shell import grammar
from watchgate.link.control_lines import ControlAnswer, LinkError, NoCore
from watchgate.link.core_socket import call_once
from watchgate.link.paths import Paths
from watchgate.link.protocol import Presence, Refusal, Request, Result
from watchgate.service.setup import manifest
from watchgate.service.setup.hook_checks import Check

NAME = "shell parser"


def check_parser() -> Check:
    """Checks that shell commands can be read here."""
    if grammar.available():
        return Check(NAME, "ok", "shell commands can be read")
    text = (
        "tree-sitter-bash is missing or does not fit: every shell command counts as unknown, "
        "and no rule allows one"
    )
    return Check(NAME, "fail", text, "install watchgate again, with all that it requires")


CORE = "core"
RECORDS = "records"
HELLO_TIMEOUT_S = 2.0
START = "start one with `watchgate` or `watchgate serve`"
WAY_BACK = "give the way to it back to you"
ROOM_BYTES = 64 * 1024
"""A journal with less room than this may not take the next record."""


def check_places(
    places: Paths, *, fix: bool, hook_sockets: Collection[Path] = frozenset()
) -> list[Check]:
    """Makes all of these checks; `fix` takes other users' rights away from what is ours.

    `hook_sockets` are those of the hooks that are in, which deny while no core runs there.
    """
    return [
        check_private("runtime directory", places.runtime_dir, 0o700, fix=fix),
        check_private("state directory", places.state_dir, 0o700, fix=fix),
        check_private("journal", places.journal, 0o600, fix=fix),
        check_private("ingest socket", places.ingest_socket, 0o600, fix=fix),
        check_private("control socket", places.control_socket, 0o600, fix=fix),
        check_room(places.state_dir),
        *check_manifest(places.installed),
        *check_core(places, hook_sockets),
    ]


def check_private(name: str, path: Path, mode: int, *, fix: bool = False) -> Check:
    """Checks that a path is ours alone; one that does not exist is made when a core starts."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return Check(name, "ok", f"{path} does not exist yet; a core makes it")
    except OSError as error:
        return Check(name, "fail", f"{path}: {error.strerror}", WAY_BACK)
    if stat.S_ISLNK(status.st_mode):
        return Check(name, "fail", f"{path} is a symbolic link", f"rm {path}")
    if status.st_uid != os.geteuid():
        return Check(
            name,
            "fail",
            f"{path} belongs to user {status.st_uid}, not to you",
            "remove it as that user, or set WATCHGATE_RUNTIME_DIR to a directory of your own",
        )
    actual = stat.S_IMODE(status.st_mode)
    if actual == mode:
        return Check(name, "ok", f"{path} is private ({actual:04o})")
    if fix:
        path.chmod(mode)
        return Check(name, "ok", f"{path} was {actual:04o} and is now {mode:04o}")
    return Check(
        name,
        "fail",
        f"{path} has mode {actual:04o} where {mode:04o} is needed",
        f"chmod {mode:o} {path}, or `watchgate doctor --fix`",
    )


def check_room(state_dir: Path) -> Check:
    """Checks the room that the journal's disk has left: a core that cannot record denies."""
    try:
        place = next(each for each in (state_dir, *state_dir.parents) if each.exists())
        disk = os.statvfs(place)
    except OSError as fault:
        text = f"{state_dir}, where the journal lies, cannot be looked at: {fault.strerror}"
        return Check("disk", "fail", text, WAY_BACK)
    blocks = disk.f_bavail if os.geteuid() else disk.f_bfree
    free = blocks * disk.f_frsize
    if free >= ROOM_BYTES:
        return Check("disk", "ok", f"{free // 1024**2:,} MiB are free where the journal lies")
    text = f"{free:,} bytes are free where the journal lies: what cannot be recorded is denied"
    return Check("disk", "fail", text, f"make room on the disk of {state_dir}")


def check_manifest(path: Path) -> list[Check]:
    """Checks that the list of what was installed can be read: no finding where it can."""
    _entries, fault = manifest.load_or_fault(path)
    if not fault:
        return []
    mend = "`watchgate install AGENT` begins it anew; do it for each agent that has hooks"
    return [Check("list of hooks", "fail", f"{fault}: what was installed is not known", mend)]


def check_core(places: Paths, hook_sockets: Collection[Path] = frozenset()) -> list[Check]:
    """Checks that a core answers and can record; none is a fault where hooks deny without it.

    They ask at `hook_sockets`, where another core may answer.
    """
    own = places.control_socket
    try:
        answer = _greeted(own)
    except NoCore as none:
        if os.path.lexists(own):
            return [Check(CORE, "fail", str(none), f"end the old one, then {START}")]
        return _cores_elsewhere(own, hook_sockets)
    except LinkError as fault:
        return [Check(CORE, "fail", str(fault), f"`watchgate stop`, then {START}")]
    if isinstance(answer, Refusal):
        text = f"the core refused to greet: {answer.message}"
        return [Check(CORE, "fail", text, "`watchgate stop`")]
    hello, lost = answer.ok["hello"], answer.ok["gate"]["journal"]
    runs = Check(CORE, "ok", f"core {hello['core']} answers, profile {hello['profile']}")
    if lost == "ok":
        return [runs]
    text = f"JOURNAL LOST, so every acting call is denied: {lost}"
    mend = "do that; `watchgate off 30m` hands calls back to the agents meanwhile"
    return [runs, Check(RECORDS, "fail", text, mend)]


def _cores_elsewhere(own: Path, hook_sockets: Collection[Path]) -> list[Check]:
    """Checks the sockets where hooks ask, while no core runs at our own."""
    if not hook_sockets:
        return [Check(CORE, "warn", f"no core runs at {own}", START)]
    checks = []
    for control in sorted({each.with_name(own.name) for each in hook_sockets}):
        text = f"no core runs at {control}, where hooks ask: gates deny every acting call"
        check = Check(CORE, "fail", text, START)
        try:
            answer = None if control == own else _greeted(control)
        except LinkError:
            answer = None
        if isinstance(answer, Result):
            hello = answer.ok["hello"]
            text = f"core {hello['core']} answers at {control}, where hooks ask, with profile "
            text += f"{hello['profile']}; none runs at {own}, where this environment looks"
            mend = f"set WATCHGATE_RUNTIME_DIR={control.parent} to speak to that core"
            check = Check(CORE, "warn", text, mend)
        checks.append(check)
    return checks


def _greeted(control: Path) -> ControlAnswer:
    return call_once(control, Request(id=1, verb="hello"), timeout_s=HELLO_TIMEOUT_S)


def check_presence(places: Paths) -> Iterator[Check]:
    """Yields one finding for each; none where no core answers."""
    try:
        answer = call_once(
            places.control_socket, Request(id=1, verb="presence"), timeout_s=HELLO_TIMEOUT_S
        )
    except LinkError:
        return
    if isinstance(answer, Refusal):
        return
    stands = decoding.convert(answer.ok, Presence)
    if stands.pin:
        yield Check("PIN", "ok", "a PIN is set: it unlocks a terminal once")
    elif stands.key:
        yield Check("PIN", "ok", "a security key is set: its touch unlocks a terminal once")
    else:
        yield Check(
            "PIN",
            "warn",
            "no PIN is set: a locked terminal may allow low and medium risk alone",
            "`watchgate pin set`, in a terminal from before any agent or while none runs",
        )
    if stands.proven:
        yield Check("this terminal", "ok", f"may allow ({stands.standing})")
    else:
        yield Check(
            "this terminal", "warn", f"is locked for allowing: {stands.why}", "`watchgate unlock`"
        )


_TIMEOUT_S = 5


def check_tmux(env: Mapping[str, str]) -> list[Check]:
    """Checks that tmux passes escape sequences on to the terminal; nothing outside of tmux."""
    if not env.get("TMUX"):
        return []
    try:
        shown = subprocess.run(
            ["tmux", "show-options", "-gv", "allow-passthrough"],  # noqa: S607 - the user's own tmux
            capture_output=True,
            check=False,
            text=True,
            timeout=_TIMEOUT_S,
            env=dict(env),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return [Check("tmux", "warn", f"cannot be asked for allow-passthrough: {error}")]
    if shown.stdout.strip() in ("on", "all"):
        return [Check("tmux", "ok", "passes notifications on to the terminal")]
    text = "keeps notifications from the terminal"
    return [Check("tmux", "warn", text, "put `set -g allow-passthrough on` into tmux.conf")]
