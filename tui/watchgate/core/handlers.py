"""Handlers: who is asked about an event, in which role, and what their failure means."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.matching import Matcher

Role = Literal["gate", "observer", "sink"]
OnFailure = Literal["closed", "open"]


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One registered handler; how it is run is the runner's affair, found by `id`.

    `on` are canonical kinds. Lower `priority` runs first. Gates decide; observers never end a
    chain. A gate's failure is closed and an observer's open unless `on_failure` says otherwise.
    """

    id: str
    on: frozenset[str]
    role: Role = "gate"
    priority: int = 100
    match: Matcher = Matcher()
    timeout_s: float = 5.0
    on_failure: OnFailure | None = None

    @property
    def fails_closed(self) -> bool:
        """Whether a failure of this handler blocks the call."""
        if self.on_failure is not None:
            return self.on_failure == "closed"
        return self.role == "gate"
