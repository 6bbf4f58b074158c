"""What a core does about the grants that outlive it: takes them over, and keeps them on disk."""

from __future__ import annotations

import anyio
from anyio.abc import TaskStatus

from watchgate.core.clock import Instant
from watchgate.core.records import CoreData
from watchgate.service.grant_store import GrantsError, GrantStore
from watchgate.service.hub import Hub

USES_KEPT_S = 30.0
"""How much newer the uses that the core counted may be than those on disk."""


async def keep(
    hub: Hub,
    store: GrantStore,
    now: Instant,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Put the grants that were kept in force again, then write them as they change.

    `task_status` is told when they are in force; a fault in writing is told once.
    """
    take_over(hub, store, now)
    task_status.started()
    told = ""
    while True:
        await anyio.sleep(USES_KEPT_S)
        fault = await write(store)
        if fault and fault != told:
            data = CoreData(what="the grants cannot be kept", detail=fault)
            hub.recorder.about_core("policy.fault", data)
        told = fault


def take_over(hub: Hub, store: GrantStore, now: Instant) -> None:
    """Put the grants that were kept in force again; of a file that cannot be read there are none.

    What became too old meanwhile is ended.
    """
    try:
        kept = store.load()
    except GrantsError as fault:
        data = CoreData(what="the grants that were given for good are lost", detail=str(fault))
        hub.recorder.about_core("policy.fault", data)
        return
    hub.execute(hub.engine.grants.restore(kept, now))


async def write(store: GrantStore) -> str:
    """Write the grants if they have changed; why that failed, empty where it did not."""
    try:
        await store.save()
    except OSError as fault:
        return f"{store.path}: {fault.strerror or fault}"
    return ""
