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

from watchgate.core import decoding
from watchgate.core.grants.grant import GrantView
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service import own_file


class GrantsError(Exception):
    """The grants cannot be read; the message says why and the consequence."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    grants: tuple[GrantView, ...] = ()


def load(path: Path) -> tuple[GrantView, ...]:
    """Returns the grants that an earlier core saved; none where there is no file.

    Raises `GrantsError` for a file that is not ours alone or cannot be read. It is set aside then,
    so that the next grant does not write over it.
    """
    try:
        raw = own_file.read(path)
    except FileNotFoundError:
        return ()
    except OSError as fault:
        raise GrantsError(_set_aside(path, fault.strerror or str(fault))) from None
    try:
        return decoding.decode(raw, _Kept).grants
    except JSON_FAULTS as fault:
        raise GrantsError(_set_aside(path, str(fault))) from None


def save(path: Path, grants: tuple[GrantView, ...]) -> None:
    """Writes the grants to disk, replacing the file in one step. Raises `OSError`."""
    own_file.replace(
        path, msgspec.json.format(msgspec.json.encode(_Kept(version=1, grants=grants)))
    )


class GrantStore:
    """Keeps the file up to date; `current` returns the grants that belong in it now."""

    def __init__(self, path: Path, current: Callable[[], tuple[GrantView, ...]]) -> None:
        self.path = path
        self._current = current
        self._written: tuple[GrantView, ...] = ()
        self._lock = anyio.Lock()

    def load(self) -> tuple[GrantView, ...]:
        """Returns the saved grants, as the function `load`; they count as the file's content."""
        self._written = load(self.path)
        return self._written

    async def save(self) -> None:
        """Writes the grants if they differ from the file. Raises `OSError`."""
        async with self._lock:
            grants = self._current()
            if grants != self._written:
                await anyio.to_thread.run_sync(save, self.path, grants)
                self._written = grants


def _set_aside(path: Path, why: str) -> str:
    aside = path.with_name(path.name + ".unread")
    moved = f"{path}: {why}"
    with suppress(OSError):
        path.replace(aside)
        moved = f"{path}: {why}; it was moved to {aside.name}"
    return f"{moved}. What it granted for good is asked again; give the grants anew"
