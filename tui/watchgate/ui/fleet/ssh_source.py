"""The core of another machine as a console's source."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from watchgate.link.ssh import connect_ssh
from watchgate.link.target import Target
from watchgate.link.whole import WholeSession
from watchgate.ui.source import Session


class SshSource:
    """The core of another machine; `program` stands for ssh.

    Where none runs there, one is started, but only until it has answered once: a core that somebody
    stopped stays stopped.
    """

    def __init__(self, target: Target, program: Sequence[str] = ("ssh",)) -> None:
        self._target = target
        self._program = tuple(program)
        self._start = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Session]:
        """Start ssh anew."""
        start = self._start
        async with connect_ssh(self._target, program=self._program, start=start) as client:
            self._start = False
            yield WholeSession(client)
