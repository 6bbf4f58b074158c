"""Asking a security key for its signature: the program that asks ends with the question.

The key is one of software (tests/security_key.py): no hardware can be touched here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.security_key import SoftKey, software_key
from watchgate.link.protocol import Challenge
from watchgate.link.touching import NotTouched, touched

pytestmark = pytest.mark.anyio


class Untouched:
    """A key that nobody touches."""

    def __init__(self, folder: Path) -> None:
        self.key: SoftKey = software_key(folder)
        self.is_asked = threading.Event()
        self._end = threading.Event()
        self.key.before_touch = self._wait

    def _wait(self) -> None:
        self.is_asked.set()
        self._end.wait()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Answers as ssh-agent does, but for the touch."""
        with self.key.agent():
            try:
                yield
            finally:
                self._end.set()

    def challenge(self, seconds: int = 120) -> Challenge:
        return Challenge(challenge="5f" * 32, seconds=seconds, key_file=str(self.key.path))

    def programs(self) -> list[str]:
        """The programs that ask this key, with those that ended and nobody waited for."""
        lines = subprocess.check_output(["ps", "-A", "-o", "ppid=,comm="], text=True).splitlines()
        parents = [line.split(None, 1) for line in lines if "ssh-keygen" in line]
        return [name for parent, name in parents if int(parent) == os.getpid()]


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Untouched:
    made = Untouched(tmp_path)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(made.key.socket))
    return made


async def test_a_question_that_is_left_ends_its_program_at_once(untouched: Untouched) -> None:
    """However often the task is cancelled: a console that closes cancels what Esc left."""
    with untouched.waiting():
        question = touched(untouched.challenge(), at_terminal=False)
        task = asyncio.create_task(question)  # noqa: TID251 - Textual cancels its workers like this
        await anyio.to_thread.run_sync(untouched.is_asked.wait)
        assert len(untouched.programs()) == 1
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert untouched.programs() == []


async def test_a_scope_that_is_left_ends_it_too(untouched: Untouched) -> None:
    with untouched.waiting():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_ask, untouched.challenge())
            await anyio.to_thread.run_sync(untouched.is_asked.wait)
            tasks.cancel_scope.cancel()
        assert untouched.programs() == []


async def test_a_key_that_is_not_touched_in_time_says_so(untouched: Untouched) -> None:
    with untouched.waiting():
        with pytest.raises(NotTouched, match="was not touched within 1 seconds"):
            await touched(untouched.challenge(seconds=1), at_terminal=False)
        assert untouched.programs() == []


AT_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
import anyio
from watchgate.link.protocol import Challenge
from watchgate.link.touching import NotTouched, touched
async def ask():
    await touched(Challenge(challenge="5f", seconds=2, key_file=sys.argv[1]), at_terminal=True)
try:
    anyio.run(ask)
except NotTouched as fault:
    print(fault)
"""


def test_a_terminal_that_was_asked_for_the_keys_own_pin_echoes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key with a passphrase, for which ssh-keygen asks in the same way."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    software_key(tmp_path / "other")  # skips where there is no ssh-keygen
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(key)], check=True
    )
    master, slave = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", AT_TERMINAL, str(key)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            check=True,
        )
        assert termios.tcgetattr(slave)[3] & termios.ECHO
    finally:
        os.close(master)
        os.close(slave)


async def test_a_program_that_is_not_there_says_so(
    untouched: Untouched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotTouched, match="ssh-keygen cannot be started: No such file"):
        await touched(untouched.challenge(), at_terminal=False)


async def _ask(challenge: Challenge) -> None:
    await touched(challenge, at_terminal=False)
