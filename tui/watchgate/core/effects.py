"""What the engine wants done, in order; the hub does it."""

from __future__ import annotations

import msgspec

from watchgate.core.dispatch import Invoke
from watchgate.core.events import Event
from watchgate.core.records import Draft
from watchgate.core.verdicts import Reply


class Emit(msgspec.Struct, frozen=True, tag="emit", gc=False):
    """Seal this draft, write it to the journal, show it to every console."""

    draft: Draft


class Send(msgspec.Struct, frozen=True, tag="send"):
    """Tell the agent on this connection; then report `sent` for the request, if there is one."""

    conn: int
    event: Event
    reply: Reply
    request: str | None = None


class Commit(msgspec.Struct, frozen=True, tag="commit"):
    """When everything emitted so far is on disk, report `committed` for this request."""

    request: str


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Run this handler for the hearing; then report `heard` with what it said."""

    hearing: int
    invoke: Invoke


class Halt(msgspec.Struct, frozen=True, tag="halt"):
    """End these handlers of the hearing, and whatever they started: nobody waits for them."""

    hearing: int
    handlers: frozenset[str]


Effect = Emit | Send | Commit | Ask | Halt
