"""Having a security key sign what the core asks, by OpenSSH's own program."""

from __future__ import annotations

import tempfile

import anyio

from watchgate.core.presence.touch.signature import NAMESPACE
from watchgate.core.text import safe_text
from watchgate.link.protocol import Challenge

TOUCH = "touch your security key"


class NotTouched(Exception):
    """The key signed nothing; the message says why."""


async def touched(challenge: Challenge, *, at_terminal: bool) -> str:
    """The signature, armoured; raises `NotTouched`.

    ssh-agent signs, or the handle of the key beside its `.pub` file. `at_terminal` lets ssh-keygen
    ask there for a key's own PIN; without, nothing of it may draw on the screen.
    """
    done = None
    try:
        # Not through a pipe: ssh-keygen may give up before it has read anything.
        with tempfile.TemporaryFile() as message, anyio.move_on_after(challenge.seconds):
            message.write(challenge.challenge.encode())
            message.seek(0)
            done = await anyio.run_process(
                ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", challenge.key_file],
                stdin=message,
                check=False,
                start_new_session=not at_terminal,
            )
    except OSError as fault:
        raise NotTouched(f"ssh-keygen cannot be started: {fault.strerror}") from None
    if done is None:
        raise NotTouched(f"the key was not touched within {challenge.seconds} seconds")
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = safe_text(lines[-1]) if lines else f"status {done.returncode}"
        raise NotTouched(f"the key signed nothing (ssh-keygen: {said})")
    return done.stdout.decode(errors="replace")
