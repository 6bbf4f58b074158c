"""The verb that drops the payloads of a session from the journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.presence.actor import Actor
from watchgate.link.protocol import Request
from watchgate.service.hub import Hub
from watchgate.service.journal.purging import Holding, held
from watchgate.service.journal.retention import called_back
from watchgate.service.journal.schema import JournalError
from watchgate.service.verbs.caller import Caller, Do, operator_only

LOG_TRIES = 20
LOG_TRY_S = 0.1


class Purging:
    """Drops what was recorded of a session: for people alone, as it takes evidence away."""

    def __init__(
        self, hub: Hub, clock: Clock, *, journal: Path, forget: Callable[[], None]
    ) -> None:
        """`forget` makes the search index let go of everything and read the journal anew."""
        self._hub = hub
        self._clock = clock
        self._journal = journal
        self._forget = forget
        # Two at once would each claim to have dropped what the other did.
        self._alone = anyio.Lock()

    def table(self) -> dict[str, Do]:
        """The verbs of this group."""
        return {"purge": self._purge}

    async def _purge(self, request: Request, caller: Caller) -> dict[str, Any]:
        proof = operator_only(caller)
        agent, session = request.agent, request.session
        if not agent or not session:
            raise Refused("bad_request", "purge needs the agent and the whole id of a session")
        async with self._alone:
            await self._hub.written()
            found = await to_thread.run_sync(held, self._journal, agent, session)
            if not found.known:
                raise Refused("unknown_id", f"nothing is recorded of {agent}'s session {session}")
            if found.seqs:
                await self._drop(found, caller.name(request.as_, proof), caller.actor(proof))
            # Also where nothing was left to drop: an earlier purge may have been cut short.
            self._forget()
            emptied = await self._emptied()
        upto = found.seqs[-1] if found.seqs else 0
        return {"records": len(found.seqs), "upto": upto, "emptied": emptied}

    async def _drop(self, found: Holding, by: str, actor: Actor) -> None:
        recorder = self._hub.recorder
        if lost := recorder.journal.lost:
            raise JournalError(self._journal, f"is lost, so nothing was dropped: {lost}")
        draft = found.draft(by, self._clock.now().wall_us, actor)
        recorder.record_purge(draft, found.seqs)
        if not await self._hub.written():
            why = "cannot be written now: the data are dropped once it can, ask again then"
            raise JournalError(self._journal, why)

    async def _emptied(self) -> bool:
        """Whether SQLite's log is empty; consoles that read the journal let go of it in between."""
        for _ in range(LOG_TRIES):
            if await called_back(self._hub.recorder.journal.empty_log):
                return True
            await anyio.sleep(LOG_TRY_S)
        return False
