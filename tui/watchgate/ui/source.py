"""Where records come from and decisions go: one core behind the control protocol."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, Unpack

from watchgate.link.client import Fields, connect
from watchgate.link.lines import Answer
from watchgate.link.protocol import Push, Snapshot, Verb


class Session(Protocol):
    """One connection to a core, for as long as it lasts."""

    async def attach(self) -> Snapshot:
        """The first picture; every record after it comes by `batch`."""
        ...

    async def batch(self) -> list[Push]:
        """What has arrived, at least one line; raises `CoreLost` when no more can come."""
        ...

    async def call(self, verb: Verb, **fields: Unpack[Fields]) -> Answer:
        """The core's answer to one request; raises `CoreLost`."""
        ...


class Call(Protocol):
    """One question to the core; raises `CoreLost`."""

    async def __call__(self, verb: Verb, **fields: Unpack[Fields]) -> Answer:
        """The core's answer."""
        ...


class Source(Protocol):
    """A core that a console connects to, and connects to again after it was lost."""

    def open(self) -> AbstractAsyncContextManager[Session]:
        """A connection for the length of a block; raises `NoCore` when there is nobody."""
        ...


class LinkSource:
    """The core behind a control socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self) -> AbstractAsyncContextManager[Session]:
        """Connect to the socket anew."""
        return connect(self._path)
