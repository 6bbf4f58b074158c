"""The grants that outlive a core: taken over at its start, and written as they change."""

from __future__ import annotations

import anyio
from anyio.abc import TaskStatus

from watchgate.core.clock import Instant
from watchgate.core.records import CoreData
from watchgate.service.grant_store import GrantsError, GrantStore
from watchgate.service.hub import Hub

USES_KEPT_S = 30.0
"""Seconds by which the core's counted uses may be newer than those on disk."""


async def keep(
    hub: Hub,
    store: GrantStore,
    now: Instant,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Puts the saved grants in force again, then writes them as they change.

    Reports to `task_status` when they are in force; a fault in writing is recorded once.
    """
    take_over(hub, store, now)
    task_status.started()
    reported = ""
    while True:
        await anyio.sleep(USES_KEPT_S)
        fault = await write(store)
        if fault and fault != reported:
            data = CoreData(what="the grants cannot be kept", detail=fault)
            hub.recorder.about_core("policy.fault", data)
        reported = fault


def take_over(hub: Hub, store: GrantStore, now: Instant) -> None:
    """Puts the saved grants in force again; a file that cannot be read counts as none.

    What became too old meanwhile is ended.
    """
    try:
        grants = store.load()
    except GrantsError as fault:
        data = CoreData(what="the grants that were given for good are lost", detail=str(fault))
        hub.recorder.about_core("policy.fault", data)
        return
    hub.execute(hub.engine.grants.restore(grants, now))


async def write(store: GrantStore) -> str:
    """Writes the grants if they have changed; returns the fault, empty where there was none."""
    try:
        await store.save()
    except OSError as fault:
        return f"{store.path}: {fault.strerror or fault}"
    return ""
