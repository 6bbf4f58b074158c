"""The control protocol over ssh: `watchgate stdio` runs on the other machine, we hold its pipes.

- Other machines as they are named on the command line: `ssh://[user@]host[:port]`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.abc
import msgspec
from anyio.streams.stapled import StapledByteStream

from watchgate.core.base.text import safe_text
from watchgate.link.control_client import CLOSED, ControlClient, greeting, talking
from watchgate.link.control_lines import CoreLost, LineReader, LinkError
from watchgate.link.protocol import SCHEMA, Hello

SCHEME = "ssh://"
TARGET_FORM = "write ssh://[user@]host[:port], as in ssh://lab2 or ssh://ana@lab2:2222"

# What ssh, its configuration or a shell could take for anything but a name is not let through.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}"
_TARGET = re.compile(
    rf"(?:(?P<user>{_NAME})@)?(?:(?P<host>{_NAME})|\[(?P<address>[0-9A-Fa-f:.]{{2,45}})\])"
    r"(?::(?P<port>[0-9]{1,5}))?/?",
    re.ASCII,
)
_LAST_PORT = 65_535


class BadTarget(ValueError):
    """A target that names no machine; the message says how to write one."""


class Target(msgspec.Struct, frozen=True):
    """A machine that ssh reaches; without a port or user ssh's own configuration decides."""

    host: str
    user: str | None = None
    port: int | None = None

    @property
    def name(self) -> str:
        """Returns the name before a session's label; an address without its colons."""
        return self.host.replace(":", ".")

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{user}{host}" + (f":{self.port}" if self.port else "")


def parse_target(text: str) -> Target:
    """The machine that a target names; raises `BadTarget`."""
    if not text.startswith(SCHEME):
        raise BadTarget(f"{text!r} is no target: {TARGET_FORM}")
    match = _TARGET.fullmatch(text[len(SCHEME) :])
    if match is None:
        raise BadTarget(f"{text!r} does not name a machine: {TARGET_FORM}")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port <= _LAST_PORT:
        raise BadTarget(f"{text!r}: a port is a number from 1 to {_LAST_PORT}")
    return Target(match["host"] or match["address"], match["user"], port)


OPTIONS = (
    *("-T", "-x", "-a"),
    # The console owns the terminal: ssh may not ask for anything on it.
    *("-o", "BatchMode=yes"),
    *("-o", "ClearAllForwardings=yes"),
    # One that the user's configuration names would make ssh refuse ours.
    *("-o", "RemoteCommand=none"),
    *("-o", "LogLevel=ERROR"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5"),
    *("-o", "ServerAliveCountMax=3"),
)
COMMAND = ("watchgate", "stdio")
NO_START = "--no-start"
GREETING_TIMEOUT_S = 45.0
"""Long enough for a slow network and a core that has to be started there."""

END_S = 2.0
_TAIL_BYTES = 8 * 1024
_ERROR_CHARS = 200

_MENDS = (
    (
        "Permission denied",
        (
            "no key was accepted, and a password is never asked for here; `ssh-add` your key, or "
            "try `ssh {host}` in a shell"
        ),
    ),
    ("Host key verification failed", "connect once by hand with `ssh {host}` and check its key"),
    (
        "not found",
        (
            "install watchgate there, where a shell without a login finds it: `ssh {host} "
            "watchgate --version` must work"
        ),
    ),
)


class HostUnreachable(LinkError):
    """The core of another machine could not be reached, so nothing was asked."""

    def __init__(self, target: Target, why: str) -> None:
        self.target = target
        self.why = why
        super().__init__(f"no core at {target}: {why}")


def ssh_argv(target: Target, program: Sequence[str] = ("ssh",), *, start: bool = True) -> list[str]:
    """The command that speaks with the core of a machine; `program` stands for ssh.

    Without `start` none is started there where none runs.
    """
    port = ("-p", str(target.port)) if target.port else ()
    user = ("-l", target.user) if target.user else ()
    # `--` comes before the host, which could otherwise be taken for an option.
    return [
        *program,
        *OPTIONS,
        *port,
        *user,
        "--",
        target.host,
        *COMMAND,
        *(() if start else (NO_START,)),
    ]


@asynccontextmanager
async def connect_ssh(
    target: Target,
    *,
    program: Sequence[str] = ("ssh",),
    timeout_s: float = GREETING_TIMEOUT_S,
    start: bool = True,
) -> AsyncIterator[ControlClient]:
    """A client of the core on another machine, for as long as the block runs.

    One is started there where none runs, unless told otherwise. The process has ended when the
    block is left. Raises `HostUnreachable` when no core greets.
    """
    try:
        # A session of its own has no terminal: neither ssh nor what it starts can ask there.
        process = await anyio.open_process(
            ssh_argv(target, program, start=start), stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise HostUnreachable(target, f"{program[0]} cannot be run ({error.strerror})") from error
    way, reader = _Way(process, target), LineReader()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(way.listen)
            hello = await way.greeting(reader, timeout_s)
            if hello.schema != SCHEMA:
                why = f"it speaks version {hello.schema} of the protocol, this watchgate {SCHEMA}"
                raise HostUnreachable(target, f"{why}: upgrade the older of the two")
            client = ControlClient(way.stream, hello, reader, explain=way.why)
            async with talking(client):
                yield client
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Listening raises nothing, so whatever there is came from here or the caller's own block.
        raise group.exceptions[0] from None
    finally:
        await way.end()


class _Way:
    """A running ssh: its pipes, and the end of what was written on its standard error."""

    def __init__(self, process: anyio.abc.Process, target: Target) -> None:
        assert process.stdin is not None  # noqa: S101 - all three are pipes
        assert process.stdout is not None  # noqa: S101
        self.stream = StapledByteStream(process.stdin, process.stdout)
        self._process = process
        self._target = target
        self._tail = b""
        self._silent = anyio.Event()

    async def listen(self) -> None:
        """Keeps the end of what it complains of, until it says no more."""
        errors = self._process.stderr
        assert errors is not None  # noqa: S101 - a pipe
        try:
            async for chunk in errors:
                self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self._silent.set()

    async def greeting(self, reader: LineReader, timeout_s: float) -> Hello:
        """The first line of the core there; raises `HostUnreachable`."""
        try:
            with anyio.fail_after(timeout_s):
                return await greeting(self.stream, reader)
        except TimeoutError as error:
            raise HostUnreachable(self._target, f"no answer within {timeout_s:g} s") from error
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise HostUnreachable(self._target, await self.why() or CLOSED) from error
        except CoreLost as lost:
            why = (
                "this version cannot read what it said first: "
                f"`ssh {self._target.host} true` must print nothing, and both ends must have about "
                "the same watchgate"
            )
            raise HostUnreachable(self._target, why) from lost

    async def why(self) -> str:
        """Its last words, with what mends it where that is known; empty when it said nothing."""
        with anyio.move_on_after(END_S):
            await self._silent.wait()
        lines = self._tail.decode(errors="replace").splitlines()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        last_words = safe_text(last.removeprefix("watchgate: "))[:_ERROR_CHARS]
        for words, mend in _MENDS:
            if words in last_words:
                return f"{last_words}: {mend.format(host=self._target.host)}"
        return last_words

    async def end(self) -> None:
        """Ends the process and takes note of its end, whatever happens to us meanwhile."""
        process = self._process
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
            with anyio.move_on_after(END_S):
                await process.wait()
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
            await process.aclose()
