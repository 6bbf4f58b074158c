"""The source of records and sink of decisions: one core or several, behind the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol, Unpack

import msgspec

from watchgate.core.state.hosts import HostView
from watchgate.link.control_client import RequestFields, connect
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.omitted_values import WholeSession
from watchgate.link.protocol import Push, Snapshot, Verb

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0


class Merged(Snapshot, frozen=True, kw_only=True):
    """The picture of several cores, with how each of them stands."""

    hosts: tuple[HostView, ...] = ()


class HostStates(msgspec.Struct, frozen=True):
    """The state of several cores now; nothing else changed."""

    views: tuple[HostView, ...]


Batch = list[Push] | Snapshot | HostStates
"""The news of a session: lines in order, a picture that replaces the one before, or hosts."""


class Session(Protocol):
    """One connection to a core, for as long as it lasts."""

    async def attach(self) -> Snapshot:
        """The first picture; every record after it comes by `batch`."""
        ...

    async def batch(self) -> Batch:
        """Returns the batch that has arrived; raises `CoreLost` when no more can come."""
        ...

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The core's answer to one request; raises `CoreLost`."""
        ...


class CoreCall(Protocol):
    """One question to the core; raises `CoreLost`."""

    async def __call__(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The core's answer."""
        ...


class RecordSource(Protocol):
    """A core that a console connects to, and connects to again after it was lost."""

    def open(self) -> AbstractAsyncContextManager[Session]:
        """A connection for the length of a block; raises `LinkError` when there is nobody."""
        ...


class LinkSource:
    """The core behind a control socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Session]:
        """Connects to the socket anew."""
        async with connect(self._path) as client:
            yield WholeSession(client)


def wait_s(tries: int) -> float:
    """The seconds to wait after so many vain tries in a row, from 1 on."""
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tries - 1, 10))
