"""Faults of whoever looks on and decides: the console, and what else speaks to its socket."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from unittest import mock

from tests.crash.clients import Control
from tests.e2e.programs import AGENT
from tests.faults.agent import RISKY
from tests.faults.trial import WAITING, Trial
from tests.faults.words import Component, Fault, Strike, When, Where, healthy, held
from tests.faults.world import PYTHON
from tests.terminal import Terminal

FLOOD, NOTE_BYTES = 60, 100_000
OF = Component.CONSOLE
TIMES = """[approval]
timeout_s = 1
unattended_timeout_s = 1
relay_timeout_s = { racing = 1, serial = 1 }
"""


def console_gets(number: signal.Signals) -> Strike:
    """A real console that shows the requests gets a signal."""

    def strike(trial: Trial) -> None:
        with mock.patch.dict(os.environ, trial.world.env):
            trial.console = Terminal("attach")
        trial.console.wait_for(RISKY.split()[0])
        os.kill(trial.console.process.pid, number)

    return strike


@contextmanager
def with_console(trial: Trial) -> Iterator[None]:
    """Whatever console there is goes after all have their answer."""
    trial.world.start()
    yield
    assert trial.console is not None
    trial.console.__exit__(None, None, None)


@contextmanager
def reads_nothing(trial: Trial) -> Iterator[None]:
    """A console attaches and never reads, and more is sent to it than any buffer takes."""
    trial.world.start()
    with socket.socket(socket.AF_UNIX) as console:
        console.connect(str(trial.world.paths.control_socket))
        console.sendall(b'{"id":1,"verb":"attach"}\n')
        line = b'{"watchgate":1,"kind":"prompt.submit","agent":"acp","session":"flood","text":"'
        with socket.socket(socket.AF_UNIX) as source:
            source.settimeout(60)
            source.connect(str(trial.world.paths.ingest_socket))
            for _ in range(FLOOD):
                source.sendall(line + b"x" * NOTE_BYTES + b'"}\n')
        yield


@contextmanager
def agents_of_their_own(trial: Trial) -> Iterator[None]:
    """The hooks run below agents of their own, so that this process may allow their calls."""
    trial.world.start()
    trial.before = [PYTHON, "-I", "-S", "-c", AGENT]
    yield


def half_a_decision(trial: Trial) -> None:
    """A console goes away within the line that would allow each call."""
    for lane in WAITING:
        request = trial.world.held(trial.session(lane))
        assert request is not None
        line = '{"id":1,"verb":"decide","request":"%s","digest":"%s","decision":"allow"'
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(trial.world.paths.control_socket))
            console.sendall((line % (request["id"], request["digest"])).encode())
            console.shutdown(socket.SHUT_WR)
            while console.recv(65_536):
                pass


def garbage(trial: Trial) -> None:
    """What is no line of the protocol comes to the control socket."""
    for sent in (b"\x00" * 99, b"GET / HTTP/1.1\r\n\r\n", b"[" * 70_000, b'{"id":1,"verb":7}\n'):
        with socket.socket(socket.AF_UNIX) as console, suppress(OSError):
            console.connect(str(trial.world.paths.control_socket))
            console.sendall(sent)


def allows_another(trial: Trial) -> None:
    """A console allows what it was not shown: each allow names another call's digest."""
    for lane in WAITING:
        request = trial.world.held(trial.session(lane))
        assert request is not None
        said = trial.world.ask(
            "decide", request=request["id"], digest="0" * 64, decision="allow", confirmed=True
        )
        assert said["refused"] == "digest_mismatch"


def one_of_two_goes(trial: Trial) -> None:
    """Two consoles are attached, and one goes away without a word."""
    with Control(trial.world.paths.control_socket) as one:
        one.ask("attach")
        with Control(trial.world.paths.control_socket) as other:
            other.ask("attach")


CONSOLE = (
    Fault(
        what="nobody decides",
        of=OF,
        when=When.TIME_UP,
        because="Nobody answered",
        where=Where(config=TIMES),
        harm=healthy,
    ),
    held(OF, "killed while it shows the request", with_console, console_gets(signal.SIGKILL)),
    held(
        OF,
        "its terminal closes while it shows the request (SIGHUP)",
        with_console,
        console_gets(signal.SIGHUP),
    ),
    held(OF, "hangs while it shows the request", with_console, console_gets(signal.SIGSTOP)),
    held(OF, "reads nothing of what it is sent", reads_nothing),
    held(OF, "goes away within the line that allows", agents_of_their_own, half_a_decision),
    held(OF, "sends garbage", healthy, garbage),
    held(OF, "allows another call than it was shown", agents_of_their_own, allows_another),
    held(OF, "one of two goes away", healthy, one_of_two_goes),
)
