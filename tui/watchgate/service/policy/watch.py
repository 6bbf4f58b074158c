"""One core's watch over the files and rules that it rests on: a change by others is recorded."""

from __future__ import annotations

import anyio
import anyio.to_thread

from watchgate.core.records import CoreData
from watchgate.service.hub import Hub
from watchgate.service.policy.store import Policies

LOOK_S = 2.0
_RELOAD = "the policy in force is the old one until `watchgate policy reload`"


async def watch(hub: Hub, policies: Policies) -> None:
    """Records faults and changes for as long as the core runs."""
    if policies.fault:
        data = CoreData(what="the policy cannot be used", detail=policies.fault)
        hub.recorder.about_core("policy.broken", data)
    while True:
        await anyio.sleep(LOOK_S)
        tell_faults(hub, policies)
        await tell_changes(hub, policies)


def tell_faults(hub: Hub, policies: Policies) -> None:
    """Records the faults of projects' files that were read meanwhile."""
    faults, policies.pending_faults = policies.pending_faults, []
    for fault in faults:
        data = CoreData(what="a project's policy cannot be used", detail=fault, tier="project")
        hub.recorder.about_core("policy.fault", data)


async def tell_changes(hub: Hub, policies: Policies) -> None:
    """Records the files that are no longer what is in force."""
    changed = await anyio.to_thread.run_sync(policies.changed)
    if changed:
        names = ", ".join(map(str, changed))
        data = CoreData(what="the policy's files changed", detail=f"{names} changed: {_RELOAD}")
        hub.recorder.about_core("policy.changed", data)
