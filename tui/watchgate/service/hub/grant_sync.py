"""`grants.json` in the state directory: the standing grants for good, which outlive a core.

The file is an object: `version` 1 and `grants`, a list of `GrantView`. It is written whole, with
mode 0600, and replaced in one step; a file that others own or could have touched is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskStatus

from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.model.records import CoreData
from watchgate.core.model.standing_grant import GrantView
from watchgate.service.hub.hub import Hub
from watchgate.service.system import safe_files


class GrantsError(Exception):
    """The grants cannot be read; the message says why and the consequence."""


class _GrantsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    grants: tuple[GrantView, ...] = ()


def load_grants(path: Path) -> tuple[GrantView, ...]:
    """Returns the grants that an earlier core saved; none where there is no file.

    Raises `GrantsError` for a file that is not ours alone or cannot be read. It is set aside then,
    so that the next grant does not write over it.
    """
    try:
        raw = safe_files.read_own_file(path)
    except FileNotFoundError:
        return ()
    except OSError as fault:
        raise GrantsError(_set_aside(path, fault.strerror or str(fault))) from None
    try:
        return decoding.decode(raw, _GrantsFile).grants
    except decoding.JSON_FAULTS as fault:
        raise GrantsError(_set_aside(path, str(fault))) from None


def save_grants(path: Path, grants: tuple[GrantView, ...]) -> None:
    """Writes the grants to disk, replacing the file in one step. Raises `OSError`."""
    safe_files.replace_own_file(
        path, msgspec.json.format(msgspec.json.encode(_GrantsFile(version=1, grants=grants)))
    )


class GrantStore:
    """Keeps the file up to date; `current` returns the grants that belong in it now."""

    def __init__(self, path: Path, current: Callable[[], tuple[GrantView, ...]]) -> None:
        self.path = path
        self._current = current
        self._written: tuple[GrantView, ...] = ()
        self._lock = anyio.Lock()

    def load(self) -> tuple[GrantView, ...]:
        """Returns the saved grants, as `load_grants` does; they count as the file's content."""
        self._written = load_grants(self.path)
        return self._written

    async def save(self) -> None:
        """Writes the grants if they differ from the file. Raises `OSError`."""
        async with self._lock:
            grants = self._current()
            if grants != self._written:
                await anyio.to_thread.run_sync(save_grants, self.path, grants)
                self._written = grants


def _set_aside(path: Path, why: str) -> str:
    aside = path.with_name(path.name + ".unread")
    moved = f"{path}: {why}"
    with suppress(OSError):
        path.replace(aside)
        moved = f"{path}: {why}; it was moved to {aside.name}"
    return f"{moved}. What it granted for good is asked again; give the grants anew"


SAVE_EACH_S = 30.0
"""Seconds by which the core's counted uses may be newer than those on disk."""


async def sync_grants(
    hub: Hub,
    store: GrantStore,
    now: Instant,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Puts the saved grants in force again, then writes them as they change.

    Reports to `task_status` when they are in force; a fault in writing is recorded once.
    """
    take_over_grants(hub, store, now)
    task_status.started()
    reported = ""
    while True:
        await anyio.sleep(SAVE_EACH_S)
        fault = await write(store)
        if fault and fault != reported:
            data = CoreData(what="the grants cannot be kept", detail=fault)
            hub.recorder.about_core("policy.fault", data)
        reported = fault


def take_over_grants(hub: Hub, store: GrantStore, now: Instant) -> None:
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
