"""Verbs about standing grants: a proposal, the grants in force, and taking one back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.grants.candidate import candidate, exact
from watchgate.core.grants.grant import GrantView
from watchgate.core.grants.proposal import proposed, why_not
from watchgate.core.grants.rule import GrantRule
from watchgate.core.grants.width import WIDTHS, Width
from watchgate.core.requests import Request as ApprovalRequest
from watchgate.link.protocol import Request
from watchgate.service.grant_store import GrantStore
from watchgate.service.hub import Hub
from watchgate.service.past_calls import Past, past_calls
from watchgate.service.verbs.caller import Caller, Do, named, operator_only


class Granting:
    """Standing grants, over one hub."""

    def __init__(self, hub: Hub, clock: Clock, *, journal: Path, store: GrantStore) -> None:
        self._hub = hub
        self._clock = clock
        self._journal = journal
        self._store = store

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"propose": self._propose, "grants": self._grants, "revoke": self._revoke}

    async def _propose(self, request: Request, _caller: Caller) -> dict[str, Any]:
        """Returns the rules that a wide allow would give, and the past calls of each width."""
        target = self._hub.engine.broker.find(named(request))
        try:
            proposed(target.data.tool, target.data)
        except ValueError as why:
            raise Refused("not_offered", f"only exactly this call can be allowed: {why}") from None
        try:
            grant = candidate(target, request.rules, width=request.width or "program")
        except ValueError as fault:
            raise Refused("bad_request", str(fault)) from None
        await self._hub.written()
        grants = _of_each_width(target, request.rules)
        own_hash = target.data.tool.input_hash
        past = await anyio.to_thread.run_sync(past_calls, self._journal, grants, own_hash)
        rules = [{**msgspec.to_builtins(rule), "text": rule.text} for rule in grant.rules]
        widths = {
            width: {**_counted(past.get(width)), "why_not": why_not(target.data, width)}
            for width in WIDTHS
        }
        return {
            "rules": rules,
            "folder": grant.folder,
            "answers": grant.answers,
            **_counted(past.get(request.width or "program")),
            "widths": widths,
        }

    async def _grants(self, _request: Request, _caller: Caller) -> dict[str, Any]:
        engine = self._hub.engine
        self._hub.execute(engine.grants.expire(self._clock.now()))
        return {"grants": list(self._hub.recorder.state.grants.values())}

    async def _revoke(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not request.grant:
            raise Refused("bad_request", "revoke needs the id of a grant; see watchgate grants")
        proof, now = operator_only(caller), self._clock.now()
        by, actor = caller.name(request.as_, proof), caller.actor(proof)
        view, effects = self._hub.engine.grants.revoke(request.grant, by, now, actor)
        try:
            # Not on record as taken back before it is gone from the disk, too.
            await self._store.save()
        except OSError as fault:
            raise OSError(
                f"it answers nothing more in this core, but {self._store.path} cannot be written "
                f"({fault.strerror}): remove that file, or it is in force again after a restart"
            ) from fault
        finally:
            self._hub.execute(effects)
        # Who took it back must not be lost with a core that is killed now.
        await self._hub.written()
        return {"grant": view.id}


def _of_each_width(
    request: ApprovalRequest, rules: tuple[GrantRule, ...]
) -> dict[Width, GrantView]:
    grants: dict[Width, GrantView] = {"program": candidate(request, rules)}
    for width in ("exact", "folder"):
        if not why_not(request.data, width):
            grants[width] = candidate(request, width=width)
    grants.setdefault("exact", exact(request, "session"))
    return grants


def _counted(past: Past | None) -> dict[str, Any]:
    return msgspec.structs.asdict(past or Past())
