"""Faults of the hook: its process, what it is started by, and what it is given."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests.client.compiled import compiled
from tests.e2e.programs import until
from tests.faults.given import (
    AS_ROOT,
    RENUMBERED,
    UNMAPPED,
    another_user,
    cannot_be_another,
    garbage_frames,
    half_frames,
    no_limit_for_another,
    no_more_processes,
    no_namespace,
    no_namespace_for_another,
    nobody_reads_stdout,
    open_stdin,
    payload,
    slow_stdin,
    started_by,
    started_with,
    the_rest,
)
from tests.faults.trial import WAITING, Trial
from tests.faults.words import Component, Fault, Gets, Harm, Strike, When, healthy, held
from watchgate.client import REASONS
from watchgate.service.setup import hook_client

SHORT_S = 4
LITTLE_KIB = 8_000
"""Enough for a shell, and too little for any Python."""
LATE = REASONS[TimeoutError]
OF = Component.CLIENT


def clients_get(number: signal.Signals) -> Strike:
    """Each client that waits gets a signal; the guard in the shell is left alone."""

    def strike(trial: Trial) -> None:
        for lane in WAITING:
            os.kill(trial.hooks[lane].client, number)

    return strike


def while_it_reads(trial: Trial) -> None:
    """Every client is killed before its call is whole."""
    for hook in trial.hooks.values():
        os.kill(hook.client, signal.SIGKILL)


def sleeps_through_its_deadline(trial: Trial) -> None:
    """Stops each client, and lets it go on when its time is over."""
    pids = [trial.hooks[lane].client for lane in WAITING]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    # One that was asked later and has as long: when it is late, they are.
    trial.ask("gate", deadline_s=SHORT_S, name="asked-later").done()
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def agent_ends_it(trial: Trial) -> None:
    """As an agent that gives up does: the whole group is killed."""
    for lane in WAITING:
        os.killpg(trial.hooks[lane].process.pid, signal.SIGKILL)


def parent_dies(trial: Trial) -> None:
    """Only the shell above the client is killed; the client leaves by itself."""
    for lane in WAITING:
        hook = trial.hooks[lane]
        os.kill(hook.process.pid, signal.SIGKILL)
        until(partial(_is_left, trial, lane), "the client left")


def _is_left(trial: Trial, lane: str) -> bool:
    return trial.world.held(trial.session(lane)) is None


@contextmanager
def no_interpreter(trial: Trial) -> Iterator[None]:
    """The interpreter that the command names is not there."""
    trial.world.start()
    trial.python = "/nonexistent/python3"
    yield


def script(text: str | None) -> Harm:
    """The client's file has another content, or is not there."""

    def harm(trial: Trial) -> ExitStack:
        trial.world.start()
        trial.script = trial.world.top / f"client-{trial.name}.py"
        if text is not None:
            trial.script.write_text(text)
        return ExitStack()

    return harm


@contextmanager
def bytecode_damaged(trial: Trial) -> Iterator[None]:
    """One bit of what the launcher runs is another."""
    trial.world.start()
    [bytecode] = hook_client.cached_bytecode(trial.world.paths)
    whole = bytecode.read_bytes()
    bytecode.write_bytes(flipped(whole))
    yield
    bytecode.write_bytes(whole)


def installed(name: str, change: Callable[[bytes], bytes]) -> Harm:
    """One of the installed files is another: `client`, the launcher, or `client_module`."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        file: Path = getattr(trial.world.paths, name)
        whole = file.read_bytes()
        file.write_bytes(change(whole))
        yield
        file.write_bytes(whole)

    return harm


def native(change: Callable[[bytes], bytes]) -> Harm:
    """Hooks run the native client, and its file is another."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.world.start()
        client = compiled(trial.world.top)
        client.write_bytes(change(client.read_bytes()))
        trial.native = client
        yield

    return harm


def flipped(content: bytes) -> bytes:
    """One bit in the middle is another."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def no_compiler() -> str:
    """Why there is no native client here."""
    return "" if shutil.which("cc") else "no C compiler"


def not_answered(number: int) -> str:
    """What the guard in the shell says of a client that ended so."""
    return f"the hook client failed with status {number}"


CLIENT = (
    held(OF, "nothing is wrong"),
    Fault(
        what="killed while it waits (SIGKILL)",
        of=OF,
        because=not_answered(137),
        harm=healthy,
        strike=clients_get(signal.SIGKILL),
    ),
    Fault(
        what="killed while it waits (SIGTERM)",
        of=OF,
        because=not_answered(143),
        harm=healthy,
        strike=clients_get(signal.SIGTERM),
    ),
    Fault(
        what="killed while it waits (SIGHUP)",
        of=OF,
        because=not_answered(129),
        harm=healthy,
        strike=clients_get(signal.SIGHUP),
    ),
    Fault(
        what="killed before it has read the call",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(137),
        harm=open_stdin,
        strike=while_it_reads,
    ),
    Fault(
        what="stopped past its deadline (SIGSTOP), then continued",
        of=OF,
        when=When.TIME_UP,
        because="Nobody answered",
        harm=healthy,
        strike=sleeps_through_its_deadline,
        deadline_s=SHORT_S,
    ),
    Fault(
        what="the agent kills it and the shell around it",
        of=OF,
        gate=Gets.KILLED,
        gate_read=Gets.KILLED,
        relay=Gets.KILLED,
        when=When.AGENT,
        harm=healthy,
        strike=agent_ends_it,
    ),
    Fault(
        what="the shell around it is killed, or its agent",
        of=OF,
        gate=Gets.KILLED,
        gate_read=Gets.KILLED,
        relay=Gets.KILLED,
        when=When.AGENT,
        harm=healthy,
        strike=parent_dies,
    ),
    Fault(
        what="its interpreter is gone",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(127),
        harm=no_interpreter,
    ),
    Fault(
        what="its file is gone",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client is missing",
        harm=script(None),
    ),
    Fault(
        what="its file is empty",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client is missing",
        harm=script(""),
    ),
    Fault(
        what="its launcher is cut behind its imports",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(0),
        harm=installed("client", lambda whole: whole[: whole.index(b"\nPLACE")]),
    ),
    Fault(
        what="its launcher is full of zeros",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client failed with status",
        harm=installed("client", lambda whole: bytes(len(whole))),
    ),
    Fault(
        what="its file is cut between two functions",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(1),
        harm=installed("client_module", lambda whole: whole[: whole.index(b"\ndef main")]),
    ),
    Fault(
        what="its file is damaged in one bit",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(1),
        harm=installed("client_module", flipped),
    ),
    Fault(
        what="its bytecode is damaged in one bit",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(1),
        harm=bytecode_damaged,
    ),
    Fault(
        what="the native one is damaged in one bit",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client failed with status",
        harm=native(flipped),
        why_not=no_compiler,
    ),
    Fault(
        what="the native one is cut",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client failed with status",
        harm=native(lambda whole: whole[: len(whole) // 2]),
        why_not=no_compiler,
    ),
    Fault(
        what="in its place is a program that ends with 0 and says nothing",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(0),
        harm=script("raise SystemExit(0)"),
    ),
    Fault(
        what="the shell around it can start no process",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client did not run: its shell failed",
        harm=no_more_processes,
        why_not=no_limit_for_another,
    ),
    Fault(
        what="its file crashes",
        of=OF,
        observe=Gets.DROPPED,
        because=not_answered(1),
        harm=script("print('{'); raise RuntimeError"),
    ),
    Fault(
        what="stdin never ends",
        of=OF,
        observe=Gets.DROPPED,
        when=When.DEADLINE,
        observe_when=When.DEADLINE,
        because=LATE,
        harm=open_stdin,
    ),
    held(OF, "stdin comes slowly", harm=slow_stdin, strike=the_rest),
    Fault(
        what="stdin is closed",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[OSError],
        harm=started_with("<&-"),
    ),
    Fault(
        what="stdout is closed",
        of=OF,
        observe=Gets.RECORDED,
        because=REASONS[OSError],
        harm=started_with(">&-"),
    ),
    Fault(
        what="nobody reads its stdout",
        of=OF,
        gate=Gets.HELD,
        gate_read=Gets.HELD,
        when=When.DECIDED,
        harm=nobody_reads_stdout,
    ),
    Fault(
        what="the call is larger than 4 MiB",
        of=OF,
        observe=Gets.UNREAD,
        because=REASONS[OverflowError],
        harm=payload(lambda whole: whole + b" " * (5 << 20)),
    ),
    Fault(
        what="the call is no JSON",
        of=OF,
        observe=Gets.UNREAD,
        because="unreadable payload",
        harm=payload(lambda _whole: b"not json"),
    ),
    Fault(
        what="it runs as another user",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[PermissionError],
        harm=another_user(),
        why_not=cannot_be_another,
    ),
    Fault(
        what="it runs as another user who is root in a user namespace",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[PermissionError],
        harm=another_user(*AS_ROOT),
        why_not=no_namespace_for_another,
    ),
    Fault(
        what="it runs as another user in a user namespace where nobody has a number",
        of=OF,
        observe=Gets.DROPPED,
        because=REASONS[PermissionError],
        harm=another_user(*UNMAPPED),
        why_not=no_namespace_for_another,
    ),
    held(
        OF,
        "it runs as you, with another number in a user namespace",
        started_by(*RENUMBERED),
        why_not=no_namespace,
    ),
    Fault(
        what="its interpreter gets no memory",
        of=OF,
        observe=Gets.DROPPED,
        because="the hook client failed",
        harm=started_by("/bin/sh", "-c", f'ulimit -v {LITTLE_KIB}; exec "$@"', "sh"),
    ),
    held(OF, "others send half frames and go silent", harm=half_frames),
    held(OF, "others send what is no frame", harm=garbage_frames),
)
