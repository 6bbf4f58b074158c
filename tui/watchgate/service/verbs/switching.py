"""Verbs that switch the gate off and on, change its profile, or end the core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.policy.profiles import PROFILES
from watchgate.core.presence.actor import Actor
from watchgate.core.records import CoreData
from watchgate.link.protocol import Request
from watchgate.service import off_switch
from watchgate.service.hub import Hub
from watchgate.service.reload import Reload
from watchgate.service.verbs.caller import Caller, Do, operator_only

Stop = Callable[[str, Actor | None], None]
"""Ends the core: by whom, and from which process."""


class Switching:
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
        off_switch.write(self._off, until_us // 1_000_000 if seconds else None)
        data = CoreData(
            what="the gate is switched off",
            until=until_us,
            name=caller.name(request.as_, proof),
            actor=caller.actor(proof),
        )
        await self._record_durably("policy.off", data)
        return {"until": until_us}

    async def _switch_on(self, request: Request, caller: Caller) -> dict[str, Any]:
        off_switch.remove(self._off)
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
