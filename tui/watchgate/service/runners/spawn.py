"""Starts a child with pipes of our own, and says in words why it did not start.

- The part of the core's environment that a hook command gets: a short list, never all of it. A core
  may have been started by anything, so its environment holds whatever that had: keys, tokens, an
  agent's own settings. None of it is a hook's business. `SSH_AUTH_SOCK` is left out on purpose: it
  lends the user's keys. What a hook needs beyond this list, its `env` in the configuration names.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from watchgate.service.system.process_limits import restore_child_limit

ALLOWED: Final = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_RUNTIME_DIR".split()
)
ALLOWED_PREFIX: Final = "LC_"


def hook_environment(parent: Mapping[str, str], added: Mapping[str, str] = {}) -> dict[str, str]:
    """Returns the allowed part of `parent`, and then what the configuration adds.

    A PATH loses its relative entries: they would let the session's folder supply the programs.
    """
    env = {
        name: value
        for name, value in parent.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIX)
    }
    entries = env.get("PATH", os.defpath).split(os.pathsep)
    env["PATH"] = os.pathsep.join(entry for entry in entries if entry.startswith("/"))
    return {**env, **added}


MIB: Final = 1 << 20


class ChildSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a child process.

    `env` is the whole environment. A program name with a slash in it is found from `cwd`, another
    one on the PATH of `env`. `stdin` None is `/dev/null`; so are stdout and stderr unless `heard`.
    Of each at most the cap is kept, head and tail. `exit_grace_s` is how long the child may go on
    after it has closed both of them; None: as long as its whole limit.
    """

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    stdin: bytes | None = None
    captures_output: bool = True
    stdout_cap_bytes: int = MIB
    stderr_cap_bytes: int = MIB
    exit_grace_s: float | None = None


class SpawnError(Exception):
    """A child that did not start; the text says why, and how to mend it."""


class StartedChild(msgspec.Struct):
    """A child that runs, as the leader of its own group, and our ends of its pipes.

    `unsent` is what of its input did not fit the pipe at once; `stdin` is None when all of it did.
    """

    process: subprocess.Popen[bytes]
    stdin: int | None
    unsent: memoryview
    stdout: int | None
    stderr: int | None


def start_child(spec: ChildSpec) -> StartedChild:
    """Starts the child in a session of its own; raises `SpawnError`."""
    if not spec.argv:
        raise SpawnError("`command` is empty; name the program to run")
    if not Path(spec.cwd).is_absolute():
        what = f"the folder {spec.cwd} is no absolute path" if spec.cwd else "the event names none"
        raise SpawnError(f"no folder to run in: {what}; set `cwd` of this handler")
    ours: list[int] = []
    theirs: list[int] = []
    try:
        return _start(spec, ours, theirs)
    except OSError as error:
        close_all(ours)
        raise SpawnError(_words(error, spec)) from error
    except (ValueError, subprocess.SubprocessError) as error:
        close_all(ours)
        raise SpawnError(f"{spec.argv[0]}: {error}; check `command` and `env`") from error
    finally:
        close_all(theirs)


def _start(spec: ChildSpec, ours: list[int], theirs: list[int]) -> StartedChild:
    stdin, unsent = None, memoryview(b"")
    reads = stdout = stderr = subprocess.DEVNULL
    if spec.stdin is not None:
        reads, stdin = os.pipe()
        theirs.append(reads)
        ours.append(stdin)
        # A child that finds its input complete costs nobody another wake-up.
        os.set_blocking(stdin, False)
        unsent = _send(stdin, memoryview(spec.stdin))
        if not unsent:
            os.close(stdin)
            ours.remove(stdin)
            stdin = None
    if spec.captures_output:
        for _ in range(2):
            read, write = os.pipe()
            ours.append(read)
            theirs.append(write)
        stdout, stderr = theirs[-2:]
    program = spec.argv[0]
    process = subprocess.Popen(
        spec.argv,
        executable=str(Path(spec.cwd, program)) if "/" in program else None,
        stdin=reads,
        stdout=stdout,
        stderr=stderr,
        cwd=spec.cwd,
        env=spec.env,
        start_new_session=True,
    )
    restore_child_limit(process.pid)
    outputs = ours[-2:] if spec.captures_output else [None, None]
    return StartedChild(process, stdin, unsent, *outputs)


def _send(fd: int, data: memoryview) -> memoryview:
    """Writes as much of the input as the pipe takes; returns the rest."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            break
    return data


def close_all(fds: Iterable[int]) -> None:
    """Closes descriptors."""
    for fd in fds:
        os.close(fd)


_MENDS: Final = {
    errno.ENOENT: "no such program, or the one that its first line names is missing",
    errno.EACCES: "not executable; `chmod +x` it",
    errno.EPERM: "not executable; `chmod +x` it",
    errno.ENOEXEC: "not a program; begin a script with `#!` and its interpreter",
    errno.ETXTBSY: "it is being written just now; try again when it is whole",
    errno.E2BIG: "arguments and variables are too long together; pass less in `command` and `env`",
    errno.EMFILE: "the core has too many files open; raise its limit (`ulimit -n`)",
    errno.ENFILE: "this machine has too many files open",
    errno.EAGAIN: "too many processes; raise the limit (`ulimit -u`)",
    errno.ENOMEM: "out of memory",
}


def why_not_started(error: OSError, program: str, cwd: str) -> str:
    """Returns in words why a program did not start there."""
    if error.filename == cwd and error.errno is not None:
        return f"cannot enter {cwd}: {os.strerror(error.errno).lower()}"
    why = _MENDS.get(error.errno or 0) or (error.strerror or str(error)).lower()
    return f"{program}: {why}"


def signal_name(number: int) -> str:
    """Returns the name of a signal; `signal N` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _words(error: OSError, spec: ChildSpec) -> str:
    mend = "; make it again, or set `cwd` of this handler" if error.filename == spec.cwd else ""
    return why_not_started(error, spec.argv[0], spec.cwd) + mend
