"""The effects: what the engine wants done, in order; the hub carries them out."""

from __future__ import annotations

import msgspec

from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.model.events import Event
from watchgate.core.model.records import Draft
from watchgate.core.model.verdicts import Reply


class Emit(msgspec.Struct, frozen=True, tag="emit", gc=False):
    """Order to seal the draft, write it to the journal and show it to every console."""

    draft: Draft


class Send(msgspec.Struct, frozen=True, tag="send"):
    """Order to send the reply on this connection, and to report `sent` for the request, if any."""

    conn: int
    event: Event
    reply: Reply
    request: str | None = None


class SyncJournal(msgspec.Struct, frozen=True, tag="commit"):
    """Order to report `committed` for this request once everything emitted so far is on disk."""

    request: str


class RunHandler(msgspec.Struct, frozen=True, tag="ask"):
    """Order to run this handler for the dispatch, and to hand its report to `Engine.on_report`."""

    dispatch_id: int
    invoke: Invoke


class StopHandlers(msgspec.Struct, frozen=True, tag="halt"):
    """Order to stop these handlers of the dispatch, and the processes that they started."""

    dispatch_id: int
    handlers: frozenset[str]


Effect = Emit | Send | SyncJournal | RunHandler | StopHandlers
