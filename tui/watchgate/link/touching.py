"""Having a security key sign what the core asks, by OpenSSH's own program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from subprocess import Popen, TimeoutExpired
from tempfile import TemporaryFile
from typing import IO

import anyio
import anyio.to_thread

from watchgate.core.base.text import safe_text
from watchgate.core.presence.key_signature import NAMESPACE
from watchgate.link.protocol import Challenge

TOUCH = "touch your security key"
_ENDS_S = 1.0


class NotTouched(Exception):
    """The key signed nothing; the message says why."""


async def touched(challenge: Challenge, *, at_terminal: bool) -> str:
    """The signature, armoured; raises `NotTouched`.

    ssh-agent signs, or the handle of the key beside its `.pub` file. `at_terminal` lets ssh-keygen
    ask there for a key's own PIN; without, nothing of it may draw on the screen.
    """
    # Files, not pipes: ssh-keygen may give up before it has read anything.
    with TemporaryFile() as message, TemporaryFile() as signature, TemporaryFile() as reasons:
        message.write(challenge.challenge.encode())
        message.seek(0)
        argv = ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", challenge.key_file]
        files = (message, signature, reasons)
        try:
            with _running(argv, files, at_terminal=at_terminal) as process:
                wait = partial(process.wait, challenge.seconds)
                status = await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)
        except OSError as fault:
            raise NotTouched(f"ssh-keygen cannot be started: {fault.strerror}") from None
        except TimeoutExpired:
            why = f"the key was not touched within {challenge.seconds} seconds"
            raise NotTouched(why) from None
        if status:
            lines = _text(reasons).strip().splitlines()
            last_words = safe_text(lines[-1]) if lines else f"status {status}"
            raise NotTouched(f"the key signed nothing (ssh-keygen: {last_words})")
        return _text(signature)


@contextmanager
def _running(
    argv: list[str], files: tuple[IO[bytes], IO[bytes], IO[bytes]], *, at_terminal: bool
) -> Iterator[Popen[bytes]]:
    """A program that ends with the block, and is waited for: no cancellation leaves it behind."""
    stdin, stdout, stderr = files
    process = Popen(
        argv, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=not at_terminal
    )
    try:
        yield process
    finally:
        # Not killed, where it can be helped: it may have to have the terminal echo again.
        process.terminate()
        try:
            process.wait(_ENDS_S)
        except TimeoutExpired:
            process.kill()
            process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
