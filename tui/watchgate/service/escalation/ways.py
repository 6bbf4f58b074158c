"""Sends notifications, each tried twice at most: by a command of the user, or to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import anyio

from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.redact import redact
from watchgate.core.text import safe_text
from watchgate.service.runners.child import ChildEnd
from watchgate.service.runners.environment import hook_environment
from watchgate.service.runners.pool import ChildPool
from watchgate.service.runners.spawn import ChildSpec
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.webhook import Tries, Webhook

OUTPUT_BYTES = 4_096
SAID_CHARS = 200


class Way(Protocol):
    """One way to send notifications."""

    async def tell(self, body: bytes) -> str:
        """Hands a message over, one try; returns why that failed, empty where it did not."""
        ...

    def close(self) -> None:
        """Lets go of whatever is held, without waiting."""
        ...


def way_of(entry: EscalationConfig, environ: Mapping[str, str], home: str) -> Way:
    """Builds the way that an entry of the configuration describes."""
    if entry.url is not None:
        return Posted(entry.url, entry.timeout_s)
    return Command(entry.command, hook_environment(environ), home, entry.timeout_s)


class Command:
    """Runs a program without a shell, as the leader of a group that ends with it; 0 is success."""

    def __init__(
        self, argv: tuple[str, ...], env: dict[str, str], cwd: str, timeout_s: float
    ) -> None:
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._timeout_s = timeout_s
        self._pool = ChildPool(limit=1)

    async def tell(self, body: bytes) -> str:
        """Runs it with the message on its standard input."""
        spec = ChildSpec(
            argv=self._argv,
            cwd=self._cwd,
            env=self._env,
            stdin=body,
            stdout_cap_bytes=OUTPUT_BYTES,
            stderr_cap_bytes=OUTPUT_BYTES,
        )
        ran = await self._pool.run(spec, self._timeout_s)
        if ran.end is None or ran.end.why == "timeout":
            return f"{self._argv[0]} did not end within {self._timeout_s:g} s and was killed"
        return _fault(self._argv[0], ran.end)

    def close(self) -> None:
        """Lets its thread end."""
        self._pool.close()


class Posted:
    """Posts the message to a server; any 2xx is success."""

    def __init__(self, url: str, timeout_s: float) -> None:
        tries = Tries(pauses_s=(), request_s=timeout_s, total_s=timeout_s)
        self._hook = Webhook(url, tries)

    async def tell(self, body: bytes) -> str:
        """Posts it once."""
        try:
            await self._hook.send([body])
        except Undelivered as fault:
            return fault.why
        except anyio.get_cancelled_exc_class():
            self._hook.close()
            raise
        return ""

    def close(self) -> None:
        """Breaks off what is on its way."""
        self._hook.close()


def _fault(program: str, end: ChildEnd) -> str:
    if end.exit_code == 0:
        return ""
    outcome = end.detail or f"{program} ended by {end.signal}"
    if end.exit_code is not None:
        outcome = f"{program} ended with exit code {end.exit_code}"
    last_line = end.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f"{outcome}: {safe_text(redact(last_line))[:SAID_CHARS]}" if last_line else outcome
