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
    """Drops a session's payloads: for people alone, as it takes evidence away."""

    def __init__(
        self, hub: Hub, clock: Clock, *, journal: Path, forget: Callable[[], None]
    ) -> None:
        """Takes `forget`, which empties the search index and makes it read the journal anew."""
        self._hub = hub
        self._clock = clock
        self._journal = journal
        self._forget = forget
        # Two at once would each claim to have dropped what the other did.
        self._alone = anyio.Lock()

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"purge": self._purge}

    async def _purge(self, request: Request, caller: Caller) -> dict[str, Any]:
        proof = operator_only(caller)
        agent, session = request.agent, request.session
        if not agent or not session:
            raise Refused("bad_request", "purge needs the agent and the whole id of a session")
        async with self._alone:
            await self._hub.written()
            holding = await to_thread.run_sync(held, self._journal, agent, session)
            if not holding.known:
                raise Refused("unknown_id", f"nothing is recorded of {agent}'s session {session}")
            if holding.seqs:
                await self._drop(holding, caller.name(request.as_, proof), caller.actor(proof))
            # Also where nothing was left to drop: an earlier purge may have been cut short.
            self._forget()
            emptied = await self._emptied()
        upto = holding.seqs[-1] if holding.seqs else 0
        return {"records": len(holding.seqs), "upto": upto, "emptied": emptied}

    async def _drop(self, holding: Holding, by: str, actor: Actor) -> None:
        recorder = self._hub.recorder
        if lost := recorder.journal.lost:
            raise JournalError(self._journal, f"is lost, so nothing was dropped: {lost}")
        draft = holding.draft(by, self._clock.now().wall_us, actor)
        recorder.record_purge(draft, holding.seqs)
        if not await self._hub.written():
            why = "cannot be written now: the data are dropped once it can, ask again then"
            raise JournalError(self._journal, why)

    async def _emptied(self) -> bool:
        """Returns whether SQLite's log is empty.

        Between the tries consoles that read the journal let go of it.
        """
        for _ in range(LOG_TRIES):
            if await called_back(self._hub.recorder.journal.empty_log):
                return True
            await anyio.sleep(LOG_TRY_S)
        return False
