"""Handlers: what is run for an event, in which role, and what a failure of it means."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.matching import ANY, Matcher
from watchgate.core.permissions import Permission

Role = Literal["gate", "observer", "sink"]
OnFailure = Literal["closed", "open"]
HandlerKind = Literal["callable", "command", "extension", "policy"]


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One registered handler; the runner that runs it is looked up by `id`.

    `on` are canonical kinds. Lower `priority` runs first. Gates decide; observers never end a
    chain and nobody waits for them. A gate's failure is closed and an observer's open unless
    `on_failure` says otherwise. `timeout_s` None is the dispatch policy's own. `permissions` None
    means that the user's own configuration vouches for the handler. `once` runs it once a session.
    """

    id: str
    on: frozenset[str]
    role: Role = "gate"
    kind: HandlerKind = "callable"
    priority: int = 100
    match: Matcher = ANY
    timeout_s: float | None = None
    on_failure: OnFailure | None = None
    continue_on_failure: bool | None = None
    permissions: frozenset[Permission] | None = None
    once: bool = False
    disabled: bool = False
