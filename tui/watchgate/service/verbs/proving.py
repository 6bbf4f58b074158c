"""Verbs by which a person proves to be there: how a terminal stands, PIN, code, and tokens."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.decisions import NOT_YOURS, Refused
from watchgate.link.protocol import Presence, Request
from watchgate.service.hub import Hub
from watchgate.service.verbs.caller import Caller, Do


class Proving:
    """How callers stand, over one hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def table(self) -> dict[str, Do]:
        """The verbs of this group."""
        return {
            "presence": self._presence,
            "unlock": self._unlock,
            "pin": self._unlock,
            "token": self._unlock,
        }

    async def _presence(self, _request: Request, caller: Caller) -> dict[str, Any]:
        clear = self._hub.askers.may_switch(caller.chain)
        stands = Presence(standing="clear" if clear else "below", why="" if clear else NOT_YOURS)
        found: dict[str, Any] = msgspec.to_builtins(stands)
        return found

    async def _unlock(self, request: Request, _caller: Caller) -> dict[str, Any]:
        raise Refused("bad_request", f"no PIN can be set here: {request.verb} does nothing")
