"""The verb about the policy: its files and faults, and loading the files again."""

from __future__ import annotations

from typing import Any

from watchgate.core.decisions import Refused
from watchgate.core.policy.load import PolicyError
from watchgate.core.records import CoreData
from watchgate.link.protocol import Request
from watchgate.service.hub import Hub
from watchgate.service.policy.store import Policies
from watchgate.service.verbs.caller import Caller, Do, operator_only


class Rules:
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
