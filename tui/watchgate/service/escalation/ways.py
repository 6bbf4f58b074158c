"""The ways to somebody elsewhere: a command of the user's own, or a server."""

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
    """One way to one who is to be told."""

    async def tell(self, body: bytes) -> str:
        """Hand a message over, one try; why that failed, empty where it did not."""
        ...

    def close(self) -> None:
        """Let go of whatever is held, without waiting."""
        ...


def way_of(entry: EscalationConfig, environ: Mapping[str, str], home: str) -> Way:
    """The way that an entry of the configuration describes."""
    if entry.url is not None:
        return Posted(entry.url, entry.timeout_s)
    return Command(entry.command, hook_environment(environ), home, entry.timeout_s)


class Command:
    """Runs a program without a shell, as the leader of a group that ends with it; 0 means told."""

    def __init__(
        self, argv: tuple[str, ...], env: dict[str, str], cwd: str, timeout_s: float
    ) -> None:
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._timeout_s = timeout_s
        self._pool = ChildPool(most=1)

    async def tell(self, body: bytes) -> str:
        """Run it with the message on its standard input."""
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
        """Let its thread end."""
        self._pool.close()


class Posted:
    """Posts the message to a server; any 2xx means told."""

    def __init__(self, url: str, timeout_s: float) -> None:
        tries = Tries(pauses_s=(), request_s=timeout_s, total_s=timeout_s)
        self._hook = Webhook(url, tries)

    async def tell(self, body: bytes) -> str:
        """Post it once."""
        try:
            await self._hook.send([body])
        except Undelivered as fault:
            return fault.why
        except anyio.get_cancelled_exc_class():
            self._hook.close()
            raise
        return ""

    def close(self) -> None:
        """Break off what is on its way."""
        self._hook.close()


def _fault(program: str, end: ChildEnd) -> str:
    if end.exit_code == 0:
        return ""
    how = end.detail or f"{program} ended by {end.signal}"
    if end.exit_code is not None:
        how = f"{program} ended with exit code {end.exit_code}"
    said = end.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f"{how}: {safe_text(redact(said))[:SAID_CHARS]}" if said else how
