"""Verbs that switch the gate off and on, change its profile, or end the core.

The verb about the policy: its files and faults, and loading the files again.

- The verb that drops the payloads of a session from the journal.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from watchgate.core.base.clock import Clock
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.actor import Actor
from watchgate.core.model.records import CoreData
from watchgate.core.policy.rules.load import PolicyError
from watchgate.core.policy.rules.profiles import PROFILES
from watchgate.link.protocol import Request
from watchgate.service.control.caller import Caller, Do, operator_only
from watchgate.service.control.reload import Reload
from watchgate.service.history.session_purge import SessionHolding, session_holding
from watchgate.service.hub.hub import Hub
from watchgate.service.journal.journal_retention import called_back
from watchgate.service.journal.schema import JournalError
from watchgate.service.policies.policy_store import Policies
from watchgate.service.system import off_switch


class PolicyVerbs:
    """The policy in force, over one hub."""

    def __init__(self, hub: Hub, policies: Policies) -> None:
        self._hub = hub
        self._policies = policies

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"policy": self._policy}

    async def _policy(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.action == "reload":
            self._reload(request, caller)
        policies = self._policies
        return {
            "files": [{"path": path, "tier": tier} for path, tier in policies.files],
            "rules": len(policies.base.rules),
            "disabled": list(policies.base.disabled),
            "faults": list(policies.faults),
        }

    def _reload(self, request: Request, caller: Caller) -> None:
        # What an agent wrote into a file must not come into force because an agent says so.
        proof = operator_only(caller)
        try:
            faults = self._policies.reload()
        except PolicyError as fault:
            stays = "the policy in force stays"
            raise Refused("bad_request", f"{fault}; {stays}") from None
        data = CoreData(
            what="the policy was loaded again",
            detail="; ".join(faults),
            name=caller.name(request.as_, proof),
            actor=caller.actor(proof),
        )
        self._hub.recorder.about_core("policy.reloaded", data)


LOG_TRIES = 20
LOG_TRY_S = 0.1


class PurgeVerbs:
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
            holding = await to_thread.run_sync(session_holding, self._journal, agent, session)
            if not holding.known:
                raise Refused("unknown_id", f"nothing is recorded of {agent}'s session {session}")
            if holding.seqs:
                await self._drop(holding, caller.name(request.as_, proof), caller.actor(proof))
            # Also where nothing was left to drop: an earlier purge may have been cut short.
            self._forget()
            emptied = await self._emptied()
        upto = holding.seqs[-1] if holding.seqs else 0
        return {"records": len(holding.seqs), "upto": upto, "emptied": emptied}

    async def _drop(self, holding: SessionHolding, by: str, actor: Actor) -> None:
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


Stop = Callable[[str, Actor | None], None]
"""Ends the core: by whom, and from which process."""


class SwitchVerbs:
    """The verbs off, on, profile, config and stop.

    Args:
        hub: The hub.
        clock: The clock.
        off: The off switch's file.
        stop: Ends the core.
        reload: Starts over with the changed configuration.
    """

    def __init__(self, hub: Hub, clock: Clock, *, off: Path, stop: Stop, reload: Reload) -> None:
        self._hub = hub
        self._clock = clock
        self._off = off
        self._stop = stop
        self._reload = reload

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {
            "off": self._switch_off,
            "on": self._switch_on,
            "profile": self._change_profile,
            "config": self._config,
            "stop": self._stop_core,
        }

    async def _switch_off(self, request: Request, caller: Caller) -> dict[str, Any]:
        proof = operator_only(caller)
        seconds = request.seconds or 0
        if not 0 <= seconds <= off_switch.LONGEST_S:
            longest = off_switch.LONGEST_S
            raise Refused("bad_request", f"off takes seconds up to {longest}, 0 for until reboot")
        until_us = self._clock.now().plus(seconds).wall_us if seconds else 0
        off_switch.write_switch(self._off, until_us // 1_000_000 if seconds else None)
        data = CoreData(
            what="the gate is switched off",
            until=until_us,
            name=caller.name(request.as_, proof),
            actor=caller.actor(proof),
        )
        await self._record_durably("policy.off", data)
        return {"until": until_us}

    async def _switch_on(self, request: Request, caller: Caller) -> dict[str, Any]:
        off_switch.remove_switch(self._off)
        name, actor = caller.name(request.as_), caller.actor()
        data = CoreData(what="the gate is switched on", name=name, actor=actor)
        await self._record_durably("policy.on", data)
        return {}

    async def _change_profile(self, request: Request, caller: Caller) -> dict[str, Any]:
        """Judges by another profile from now on; a weaker one takes the same proof as `off`."""
        before, profile = self._hub.engine.profile, request.profile
        if profile is None:
            raise Refused("bad_request", f"profile needs one of {', '.join(PROFILES)}")
        weaker = PROFILES.index(profile) < PROFILES.index(before)
        proof = operator_only(caller) if weaker else caller.proof()
        if profile != before:
            self._hub.engine.profile = profile
            data = CoreData(
                what="the profile was changed",
                detail=f"from {before} to {profile}",
                profile=profile,
                name=caller.name(request.as_, proof),
                actor=caller.actor(proof),
            )
            await self._record_durably("policy.profile", data)
        return {"profile": profile, "before": before}

    async def _config(self, request: Request, caller: Caller) -> dict[str, Any]:
        """Returns the file's changes, and with `reload` starts over with them."""
        if request.action != "reload":
            return self._reload.changes()
        # What an agent wrote into the file must not come into force because an agent says so.
        proof = operator_only(caller)
        return await self._reload(caller.name(request.as_, proof), caller.actor(proof))

    async def _record_durably(self, kind: str, data: CoreData) -> None:
        """Records it, and returns when it is on disk: the record names who switched the gate off.

        A journal that cannot be written keeps nobody from switching.
        """
        self._hub.recorder.about_core(kind, data)
        await self._hub.written()

    async def _stop_core(self, request: Request, caller: Caller) -> dict[str, Any]:
        # A core that an agent ended could be followed by one of the agent's own, that gates less.
        proof = operator_only(caller)
        self._stop(caller.name(request.as_, proof), caller.actor(proof))
        return {}
